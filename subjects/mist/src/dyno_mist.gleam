//// Mist: a process a connection, which calls `answer` for each request.

import gleam/bytes_tree
import gleam/erlang/charlist.{type Charlist}
import gleam/erlang/process.{type Subject}
import gleam/http.{Get, Post}
import gleam/http/request.{type Request}
import gleam/http/response.{type Response}
import gleam/int
import gleam/list
import gleam/option.{None, Some}
import gleam/yielder
import mist.{type Connection, type ResponseData}

@external(erlang, "init", "get_plain_arguments")
fn arguments() -> List(Charlist)

/// entrypoint.sh run ADDRESS PORT
pub fn main() -> Nil {
  let assert [address, port] = list.map(arguments(), charlist.to_string)
  let assert Ok(port) = int.parse(port)
  let assert Ok(_) =
    mist.new(answer)
    |> mist.bind(address)
    |> mist.port(port)
    |> mist.start

  process.sleep_forever()
}

fn answer(request: Request(Connection)) -> Response(ResponseData) {
  case request.method, request.path_segments(request) {
    Get, [] -> front(request)
    Get, ["hello"] -> reply("text/plain", "Hello, world!")
    Get, ["user", id] -> reply("text/plain", id)
    Post, ["user"] -> post(request)
    Get, ["poll", seconds] -> poll(milliseconds(seconds))
    Get, ["wspoll", seconds] -> wspoll(request, milliseconds(seconds))
    Get, ["wsecho"] -> wsecho(request)
    _, _ -> empty(404)
  }
}

fn front(request: Request(Connection)) -> Response(ResponseData) {
  let variables = case request.get_query(request) {
    Ok(variables) -> variables
    Error(Nil) -> []
  }
  case variables, list.key_find(variables, "value") {
    [], _ -> empty(200)
    _, Ok(value) ->
      reply("text/xml", "<http_test><value>" <> value <> "</value></http_test>")
    _, Error(Nil) ->
      reply(
        "text/xml",
        "<http_test><error>no value specified</error></http_test>",
      )
  }
}

fn post(request: Request(Connection)) -> Response(ResponseData) {
  case mist.read_body(request, max_body_limit: 1024 * 1024 * 10) {
    Ok(request) ->
      response.new(200)
      |> response.set_header("content-type", "text/plain")
      |> response.set_body(mist.Bytes(bytes_tree.from_bit_array(request.body)))
    Error(_) -> empty(400)
  }
}

fn poll(ms: Int) -> Response(ResponseData) {
  let tick = bytes_tree.from_string("tick\n")
  let later =
    yielder.repeatedly(fn() {
      process.sleep(ms)
      tick
    })

  response.new(200)
  |> response.set_header("content-type", "text/plain")
  |> response.set_body(mist.Chunked(yielder.prepend(later, tick)))
}

type Tick {
  Tick
}

fn wspoll(request: Request(Connection), ms: Int) -> Response(ResponseData) {
  mist.websocket(
    request: request,
    on_init: fn(_connection) {
      let clock: Subject(Tick) = process.new_subject()
      process.send(clock, Tick)
      #(clock, Some(process.select(process.new_selector(), clock)))
    },
    handler: fn(clock, message, connection) {
      case message {
        mist.Custom(Tick) -> {
          process.send_after(clock, ms, Tick)
          case mist.send_text_frame(connection, "tick") {
            Ok(Nil) -> mist.continue(clock)
            Error(_) -> mist.stop()
          }
        }
        mist.Text(_) | mist.Binary(_) -> mist.continue(clock)
        mist.Closed | mist.Shutdown -> mist.stop()
      }
    },
    on_close: fn(_clock) { Nil },
  )
}

fn wsecho(request: Request(Connection)) -> Response(ResponseData) {
  mist.websocket(
    request: request,
    on_init: fn(_connection) { #(Nil, None) },
    handler: fn(state, message, connection) {
      let sent = case message {
        mist.Text(text) -> mist.send_text_frame(connection, text)
        mist.Binary(bits) -> mist.send_binary_frame(connection, bits)
        mist.Custom(Nil) | mist.Closed | mist.Shutdown -> Ok(Nil)
      }
      case sent {
        Ok(Nil) -> mist.continue(state)
        Error(_) -> mist.stop()
      }
    },
    on_close: fn(_state) { Nil },
  )
}

fn milliseconds(seconds: String) -> Int {
  let assert Ok(seconds) = int.parse(seconds)
  seconds * 1000
}

fn reply(content_type: String, body: String) -> Response(ResponseData) {
  response.new(200)
  |> response.set_header("content-type", content_type)
  |> response.set_body(mist.Bytes(bytes_tree.from_string(body)))
}

fn empty(status: Int) -> Response(ResponseData) {
  response.new(status)
  |> response.set_body(mist.Bytes(bytes_tree.new()))
}
