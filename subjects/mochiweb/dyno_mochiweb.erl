%% MochiWeb: one process a connection; it reads the request, calls `answer/1` and stays for the next one.
-module(dyno_mochiweb).
-export([start/1, answer/1, heard/3, give_back/3]).

%% erl -run dyno_mochiweb start ADDRESS PORT [CHAIN KEY]
start([Address, Port]) ->
    start(Address, Port, []);
start([Address, Port, Chain, Key]) ->
    start(Address, Port, [{ssl, true}, {ssl_opts, [{certfile, Chain}, {keyfile, Key}]}]).

start(Address, Port, Tls) ->
    {ok, _} = application:ensure_all_started(mochiweb),
    {ok, _} = mochiweb_http:start([
        {name, ?MODULE},
        %% The process that calls this one ends; the server does not.
        {link, false},
        {ip, Address},
        {port, list_to_integer(Port)},
        {backlog, 1024},
        {max, 100000},
        {loop, {?MODULE, answer}}
        | Tls
    ]).

answer(Req) ->
    Path = mochiweb_request:get(path, Req),
    case mochiweb_request:get(method, Req) of
        Method when Method =:= 'GET'; Method =:= 'HEAD' -> get(Path, Req);
        'POST' -> post(Path, Req);
        _ -> mochiweb_request:not_found(Req)
    end.

get("/", Req) ->
    case mochiweb_request:parse_qs(Req) of
        [] -> mochiweb_request:ok({"text/plain", ""}, Req);
        Variables -> mochiweb_request:ok({"text/xml", xml(proplists:get_value("value", Variables))}, Req)
    end;
get("/hello", Req) ->
    mochiweb_request:ok({"text/plain", "Hello, world!"}, Req);
get("/user/" ++ Id, Req) ->
    case lists:member($/, Id) of
        false -> mochiweb_request:ok({"text/plain", Id}, Req);
        true -> mochiweb_request:not_found(Req)
    end;
get("/poll/" ++ Seconds, Req) ->
    Response = mochiweb_request:ok({"text/plain", chunked}, Req),
    poll(Response, timer:seconds(list_to_integer(Seconds)));
get("/wspoll/" ++ Seconds, Req) ->
    {Listen, Send} = mochiweb_websocket:upgrade_connection(Req, fun ?MODULE:heard/3),
    %% The library's own process waits for what the client says; another one, linked to it, does the talking.
    spawn_link(fun() -> tick(Send, timer:seconds(list_to_integer(Seconds))) end),
    Listen(no_state);
get("/wsecho", Req) ->
    {Listen, _Send} = mochiweb_websocket:upgrade_connection(Req, fun ?MODULE:give_back/3),
    Listen(no_state);
get(_, Req) ->
    mochiweb_request:not_found(Req).

post("/user", Req) ->
    mochiweb_request:ok({"text/plain", mochiweb_request:recv_body(Req)}, Req);
post(_, Req) ->
    mochiweb_request:not_found(Req).

xml(undefined) -> "<http_test><error>no value specified</error></http_test>";
xml(Value) -> ["<http_test><value>", Value, "</value></http_test>"].

%% A chunk that cannot be written ends the process.
poll(Response, Ms) ->
    mochiweb_response:write_chunk("tick\n", Response),
    timer:sleep(Ms),
    poll(Response, Ms).

tick(Send, Ms) ->
    Send("tick"),
    timer:sleep(Ms),
    tick(Send, Ms).

heard(_Frames, State, _Send) -> State.

%% The library tells neither text from binary nor a message from a ping, and sends texts only.
give_back(Frames, State, Send) ->
    lists:foreach(Send, Frames),
    State.
