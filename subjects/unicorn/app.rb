# dyno's subject for Unicorn: a Rack application by itself.

require 'json'
require 'rack'

class App
  TEXT = { 'Content-Type' => 'text/plain' }.freeze
  XML = { 'Content-Type' => 'text/xml' }.freeze
  JSON_TYPE = { 'Content-Type' => 'application/json' }.freeze
  OCTETS = { 'Content-Type' => 'application/octet-stream' }.freeze

  def initialize
    dataset = ENV['DATASET']
    @items = dataset ? JSON.parse(File.read(dataset)) : []
  end

  def call(env)
    request = Rack::Request.new(env)
    case [request.request_method, request.path_info]
    in 'GET', '/' then echo(request)
    in 'GET', '/hello' then [200, TEXT, ['Hello, world!']]
    in 'GET', %r{\A/user/([^/]+)\z} then [200, TEXT, [Regexp.last_match(1)]]
    in 'POST', '/user' then [200, TEXT, [request.body.read]]
    in 'GET', %r{\A/delay/(\d{1,5})\z} then delay(env, Regexp.last_match(1))
    in 'GET', '/header' then [200, TEXT, [env['HTTP_X_REQUEST_ID'].to_s]]
    in 'GET', %r{\A/json/(\d{1,5})\z} then list(Regexp.last_match(1).to_i, request.GET['m'])
    in 'POST', '/sum' then sum(request.body.read)
    in 'POST', '/echo' then [200, OCTETS, [request.body.read]]
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

  def delay(_env, text)
    sleep(text.to_i / 1000.0)
    [200, TEXT, [text]]
  end

  def list(count, text)
    return [404, {}, ['']] unless count.between?(1, @items.length)
    return [400, {}, ['']] unless text&.match?(/\A\d{1,5}\z/)

    items = @items.first(count).map do |item|
      item.merge('total' => item['price'] * item['quantity'] * text.to_i)
    end
    [200, JSON_TYPE, [JSON.generate(items: items, count: count)]]
  end

  def sum(body)
    case JSON.parse(body, symbolize_names: true)
    in { values: Array => values }
      [200, JSON_TYPE, [JSON.generate(sum: values.sum, count: values.length)]]
    else [400, {}, ['']]
    end
  rescue JSON::ParserError
    [400, {}, ['']]
  end
end
