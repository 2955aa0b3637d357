# The answers that depend on the request.

def text(kind, body)
  [200, { 'content-type' => kind }, [body]]
end

def echo(query)
  return [200, {}, []] if query.empty?

  pair = query.split('&').find { |it| it.start_with?('value=') }
  answer = pair ? "<value>#{pair[6..-1]}</value>" : '<error>no value specified</error>'
  text('text/xml', "<http_test>#{answer}</http_test>")
end

proc do |env|
  path = env['PATH_INFO']
  if path == '/'
    echo(env['QUERY_STRING'])
  elsif path == '/user' && env['REQUEST_METHOD'] == 'POST'
    input = env['rack.input']
    text('text/plain', input ? input.read : '')
  elsif %r{\A/user/([^/]+)\z} =~ path
    text('text/plain', $1)
  else
    [404, {}, []]
  end
end
