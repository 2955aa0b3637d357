"""dyno's subject for gevent: a WSGI application on gevent.pywsgi, and gevent-websocket.

    python server.py ADDRESS PORT [CHAIN KEY]
"""

import sys
from socket import IPPROTO_TCP, TCP_NODELAY
from urllib.parse import parse_qs

import gevent
from gevent import ssl
from gevent.pywsgi import WSGIServer
from geventwebsocket import WebSocketError
from geventwebsocket.handler import WebSocketHandler


def application(environ, start_response):
    method = environ["REQUEST_METHOD"]
    match method, environ["PATH_INFO"].split("/")[1:]:
        case "GET", [""]:
            return echo(environ["QUERY_STRING"], start_response)
        case "GET", ["hello"]:
            return answer("text/plain", b"Hello, world!", start_response)
        case "GET", ["user", user] if user:
            # WSGI's text is bytes in disguise.
            return answer("text/plain", user.encode("latin-1"), start_response)
        case "POST", ["user"]:
            return answer("text/plain", environ["wsgi.input"].read(), start_response)
        case "GET", ["poll", seconds] if is_period(seconds):
            start_response("200 OK", [("Content-Type", "text/plain")])
            return ticks(int(seconds))
        case "GET", ["wspoll", seconds] if is_period(seconds) and "wsgi.websocket" in environ:
            poll_socket(environ["wsgi.websocket"], int(seconds))
            return []
        case "GET", ["wsecho"] if "wsgi.websocket" in environ:
            echo_socket(environ["wsgi.websocket"])
            return []
        case _:
            start_response("404 Not Found", [])
            return [b""]


def echo(query, start_response):
    if not query:
        start_response("200 OK", [])
        return [b""]
    values = parse_qs(query, keep_blank_values=True).get("value")
    if values is None:
        body = "<http_test><error>no value specified</error></http_test>"
    else:
        body = f"<http_test><value>{values[0]}</value></http_test>"
    return answer("text/xml", body.encode(), start_response)


def answer(content_type, body, start_response):
    start_response("200 OK", [("Content-Type", content_type)])
    return [body]


def is_period(text):
    return text.isdecimal() and int(text) > 0


def ticks(seconds):
    while True:
        yield b"tick\n"
        gevent.sleep(seconds)


def poll_socket(socket, seconds):
    beats = gevent.spawn(beat, socket, seconds)
    try:
        # Pings and closes are answered only while somebody reads.
        while socket.receive() is not None:
            pass
    except WebSocketError:
        pass
    finally:
        beats.kill()


def beat(socket, seconds):
    while not socket.closed:
        socket.send("tick")
        gevent.sleep(seconds)


def echo_socket(socket):
    try:
        while (message := socket.receive()) is not None:
            socket.send(message)
    except WebSocketError:
        pass


class Server(WSGIServer):
    def init_socket(self):
        """Answers leave in two pieces, so without this the second waits for the client's ACK."""
        super().init_socket()
        self.socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)


def tls(chain, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    return {"ssl_context": context}


if __name__ == "__main__":
    address, port, *pair = sys.argv[1:]
    Server(
        (address, int(port)),
        application,
        log=None,
        handler_class=WebSocketHandler,
        **(tls(*pair) if pair else {}),
    ).serve_forever()
