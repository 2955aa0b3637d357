"""dyno's subject for Tornado: an application of request handlers on one event loop.

    python server.py --address=127.0.0.1 --port=8080 [--cert=chain.pem --key=key.pem]
"""

import asyncio
import ssl

from tornado.iostream import StreamClosedError
from tornado.ioloop import PeriodicCallback
from tornado.options import define, options, parse_command_line
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

define("address", default="127.0.0.1", help="where to listen")
define("port", default=8080, help="where to listen")
define("cert", default="", help="speak TLS with this chain")
define("key", default="", help="the key that belongs to it")


class EchoHandler(RequestHandler):
    def get(self):
        if not self.request.query:
            return
        self.set_header("Content-Type", "text/xml")
        value = self.get_query_argument("value", None, strip=False)
        if value is None:
            self.write("<http_test><error>no value specified</error></http_test>")
        else:
            self.write(f"<http_test><value>{value}</value></http_test>")


class HelloHandler(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Hello, world!")


class UserHandler(RequestHandler):
    def get(self, user):
        self.set_header("Content-Type", "text/plain")
        self.write(user)


class GiveBackHandler(RequestHandler):
    def post(self):
        self.set_header("Content-Type", "text/plain")
        self.write(self.request.body)


class PollHandler(RequestHandler):
    async def get(self, seconds):
        self.set_header("Content-Type", "text/plain")
        try:
            while True:
                self.write("tick\n")
                await self.flush()
                await asyncio.sleep(int(seconds))
        except StreamClosedError:
            pass


class PollSocket(WebSocketHandler):
    async def open(self, seconds):
        self.timer = PeriodicCallback(self.tick, int(seconds) * 1000)
        self.timer.start()
        await self.tick()

    async def tick(self):
        try:
            await self.write_message("tick")
        except WebSocketClosedError:
            # The client has gone, and on_close is about to say so.
            pass

    def on_message(self, message):
        pass

    def on_close(self):
        self.timer.stop()


class EchoSocket(WebSocketHandler):
    async def on_message(self, message):
        try:
            await self.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            # The client has gone.
            pass


def make_app():
    return Application(
        [
            (r"/", EchoHandler),
            (r"/hello", HelloHandler),
            (r"/user/([^/]+)", UserHandler),
            (r"/user", GiveBackHandler),
            (r"/poll/([1-9][0-9]*)", PollHandler),
            (r"/wspoll/([1-9][0-9]*)", PollSocket),
            (r"/wsecho", EchoSocket),
        ],
        # The usual function writes a line for every answer.
        log_function=lambda handler: None,
    )


def tls():
    if not options.cert:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.cert, options.key)
    return context


async def main():
    make_app().listen(options.port, options.address, ssl_options=tls())
    await asyncio.Event().wait()


if __name__ == "__main__":
    parse_command_line()
    asyncio.run(main())
