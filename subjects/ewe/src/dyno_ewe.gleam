//// Ewe: a process a connection, which calls `answer` for each request; an answer that goes on has one of its own.

import ewe.{type Request, type Response}
import gleam/erlang/charlist.{type Charlist}
import gleam/erlang/process.{type Selector, type Subject}
import gleam/http.{Get, Post}
import gleam/http/request
import gleam/http/response
import gleam/int
import gleam/list

@external(erlang, "init", "get_plain_arguments")
fn arguments() -> List(Charlist)

/// entrypoint.sh run ADDRESS PORT
pub fn main() -> Nil {
  let assert [address, port] = list.map(arguments(), charlist.to_string)
  let assert Ok(port) = int.parse(port)
  let assert Ok(_) =
    ewe.new(answer)
    |> ewe.bind(address)
    |> ewe.listening(port:)
    |> ewe.start

  process.sleep_forever()
}

fn answer(request: Request) -> Response {
  case request.method, request.path_segments(request) {
    Get, [] -> front(request)
    Get, ["hello"] -> reply("text/plain", ewe.TextData("Hello, world!"))
    Get, ["user", id] -> reply("text/plain", ewe.TextData(id))
    Post, ["user"] -> post(request)
    Get, ["poll", seconds] -> poll(request, milliseconds(seconds))
    Get, ["wspoll", seconds] -> wspoll(request, milliseconds(seconds))
    Get, ["wsecho"] -> wsecho(request)
    _, _ -> empty(404)
  }
}

fn front(request: Request) -> Response {
  let variables = case request.get_query(request) {
    Ok(variables) -> variables
    Error(Nil) -> []
  }
  case variables, list.key_find(variables, "value") {
    [], _ -> empty(200)
    _, Ok(value) -> xml("<value>" <> value <> "</value>")
    _, Error(Nil) -> xml("<error>no value specified</error>")
  }
}

fn post(request: Request) -> Response {
  case ewe.read_body(request, bytes_limit: 1024 * 1024 * 10) {
    Ok(request) -> reply("text/plain", ewe.BitsData(request.body))
    Error(_) -> empty(400)
  }
}

type Tick {
  Tick
}

fn poll(request: Request, ms: Int) -> Response {
  ewe.chunked_body(
    request,
    response.new(200) |> response.set_header("content-type", "text/plain"),
    on_init: fn(clock: Subject(Tick)) {
      process.send(clock, Tick)
      clock
    },
    handler: fn(body, clock, _tick) {
      process.send_after(clock, ms, Tick)
      case ewe.send_chunk(body, <<"tick\n":utf8>>) {
        Ok(Nil) -> ewe.chunked_continue(clock)
        Error(_) -> ewe.chunked_stop()
      }
    },
    on_close: fn(_body, _clock) { Nil },
  )
}

fn wspoll(request: Request, ms: Int) -> Response {
  ewe.upgrade_websocket(
    request,
    on_init: fn(_connection, selector) {
      let clock: Subject(Tick) = process.new_subject()
      process.send(clock, Tick)
      #(clock, process.select(selector, clock))
    },
    handler: fn(connection, clock, message) {
      case message {
        ewe.User(Tick) -> {
          process.send_after(clock, ms, Tick)
          case ewe.send_text_frame(connection, "tick") {
            Ok(Nil) -> ewe.websocket_continue(clock)
            Error(_) -> ewe.websocket_stop()
          }
        }
        ewe.Text(_) | ewe.Binary(_) -> ewe.websocket_continue(clock)
      }
    },
    on_close: fn(_connection, _clock) { Nil },
  )
}

fn wsecho(request: Request) -> Response {
  ewe.upgrade_websocket(
    request,
    on_init: fn(_connection, selector: Selector(Nil)) { #(Nil, selector) },
    handler: fn(connection, state, message) {
      let sent = case message {
        ewe.Text(text) -> ewe.send_text_frame(connection, text)
        ewe.Binary(bits) -> ewe.send_binary_frame(connection, bits)
        ewe.User(Nil) -> Ok(Nil)
      }
      case sent {
        Ok(Nil) -> ewe.websocket_continue(state)
        Error(_) -> ewe.websocket_stop()
      }
    },
    on_close: fn(_connection, _state) { Nil },
  )
}

fn milliseconds(seconds: String) -> Int {
  let assert Ok(seconds) = int.parse(seconds)
  seconds * 1000
}

fn xml(inner: String) -> Response {
  reply("text/xml", ewe.TextData("<http_test>" <> inner <> "</http_test>"))
}

fn reply(content_type: String, body: ewe.ResponseBody) -> Response {
  response.new(200)
  |> response.set_header("content-type", content_type)
  |> response.set_body(body)
}

fn empty(status: Int) -> Response {
  response.new(status) |> response.set_body(ewe.Empty)
}
