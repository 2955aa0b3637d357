-- The answers that depend on the request.

local r = lighty.r

local function answer(kind, body)
    r.resp_header["Content-Type"] = kind
    r.resp_body.set({ body })
    return 200
end

local path = r.req_attr["uri.path"]

if path == "/" then
    local value = lighty.c.urldec_query(r.req_attr["uri.query"])["value"]
    local content = value and "<value>" .. value .. "</value>" or "<error>no value specified</error>"
    return answer("text/xml", "<http_test>" .. content .. "</http_test>")
end

if path == "/user" and r.req_attr["request.method"] == "POST" then
    -- Called again as soon as all of the body is here.
    if not r.req_body.collect then return 0 end
    -- The body is the end of what lighttpd 1.4.69 gives: the request's head stands before it, if both came at once.
    local length = r.req_body.len
    return answer("text/plain", length == 0 and "" or r.req_body.get:sub(-length))
end

local id = path:match("^/user/([^/]+)$")
return id and answer("text/plain", id) or 404
