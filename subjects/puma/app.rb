# dyno's subject for Puma: a Rack application by itself, and faye-websocket for the WebSocket.

require 'faye/websocket'
require 'rack'

class App
  TEXT = { 'Content-Type' => 'text/plain' }.freeze
  XML = { 'Content-Type' => 'text/xml' }.freeze

  def call(env)
    request = Rack::Request.new(env)
    case [request.request_method, request.path_info]
    in 'GET', '/' then echo(request)
    in 'GET', '/hello' then [200, TEXT, ['Hello, world!']]
    in 'GET', %r{\A/user/([^/]+)\z} then [200, TEXT, [Regexp.last_match(1)]]
    in 'POST', '/user' then [200, TEXT, [request.body.read]]
    in 'GET', %r{\A/poll/([1-9]\d*)\z} then [200, TEXT, ticks(Regexp.last_match(1).to_i)]
    in 'GET', %r{\A/wspoll/([1-9]\d*)\z} if Faye::WebSocket.websocket?(env)
      poll_socket(env, Regexp.last_match(1).to_i)
    in 'GET', '/wsecho' if Faye::WebSocket.websocket?(env) then echo_socket(env)
    else [404, {}, ['']]
    end
  end

  private

  def echo(request)
    return [200, {}, ['']] if request.query_string.empty?

    value = request.GET['value']
    answer = value ? "<value>#{value}</value>" : '<error>no value specified</error>'
    [200, XML, ["<http_test>#{answer}</http_test>"]]
  end

  def ticks(seconds)
    Enumerator.new do |body|
      loop do
        body << "tick\n"
        sleep seconds
      end
    end
  end

  def poll_socket(env, seconds)
    socket = Faye::WebSocket.new(env)
    timer = nil
    socket.on :open do
      socket.send('tick')
      timer = EventMachine.add_periodic_timer(seconds) { socket.send('tick') }
    end
    socket.on(:close) { timer&.cancel }
    socket.rack_response
  end

  def echo_socket(env)
    socket = Faye::WebSocket.new(env)
    socket.on(:message) { |event| socket.send(event.data) }
    socket.rack_response
  end
end
