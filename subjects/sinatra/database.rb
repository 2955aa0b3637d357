# Rows of PostgreSQL, by pg and a pool of connection_pool.

require 'connection_pool'
require 'json'
require 'pg'

module Database
  READ = 'SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = $1'
  UPDATE = 'UPDATE world SET randomnumber = $1 WHERE id = $2'
  WORLDS = (1..10_000).freeze

  # The pool connects when a connection is wanted.
  POOL = ConnectionPool.new(size: Integer(ENV.fetch('DATABASE_MAX_CONN', 5))) do
    connection = PG.connect(ENV.fetch('DATABASE_URL'))
    connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
    connection
  end

  module Helpers
    def h(text)
      Rack::Utils.escape_html(text)
    end

    def count
      Integer(params['queries'], exception: false).to_i.clamp(1, 500)
    end

    def read(connection, id)
      connection.exec_params(READ, [id]).first
    end
  end

  def self.registered(app)
    app.helpers Helpers

    app.get '/db' do
      content_type :json
      POOL.with { |connection| read(connection, rand(WORLDS)) }.to_json
    end

    app.get '/queries' do
      content_type :json
      POOL.with { |connection| Array.new(count) { read(connection, rand(WORLDS)) } }.to_json
    end

    app.get '/updates' do
      content_type :json
      # In order, so that transactions lock rows in the same order.
      ids = WORLDS.to_a.sample(count).sort
      rows = POOL.with do |connection|
        connection.transaction do
          ids.map do |id|
            row = read(connection, id)
            row['randomNumber'] = rand(WORLDS)
            connection.exec_params(UPDATE, [row['randomNumber'], id])
            row
          end
        end
      end
      rows.to_json
    end

    app.get '/fortunes' do
      rows = POOL.with { |connection| connection.exec('SELECT id, message FROM fortune').to_a }
      rows << { 'id' => 0, 'message' => 'Additional fortune added at request time.' }
      erb :fortunes, locals: { fortunes: rows.sort_by { |row| row['message'] } }
    end
  end
end
