# dyno's subject for Sinatra: a modular application, served by Puma.

require 'sinatra/base'
require_relative 'database' if ENV['DATABASE_URL']

class App < Sinatra::Base
  register Database if ENV['DATABASE_URL']

  get '/' do
    next '' if params.empty?

    content_type 'text/xml'
    if params['value']
      "<http_test><value>#{params['value']}</value></http_test>"
    else
      '<http_test><error>no value specified</error></http_test>'
    end
  end

  get '/hello' do
    content_type 'text/plain'
    'Hello, world!'
  end

  get '/user/:id' do
    content_type 'text/plain'
    params['id']
  end

  post '/user' do
    content_type 'text/plain'
    request.body.read
  end

  get %r{/poll/([1-9]\d*)} do |seconds|
    content_type 'text/plain'
    stream do |out|
      loop do
        out << "tick\n"
        sleep seconds.to_i
      end
    end
  end
end
