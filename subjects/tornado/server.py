"""dyno's subject for Tornado: an application of request handlers on one event loop.

    python server.py --address=127.0.0.1 --port=8080 [--cert=chain.pem --key=key.pem]
"""

import asyncio
import json
import os
import ssl

from tornado.escape import json_decode
from tornado.iostream import StreamClosedError
from tornado.ioloop import PeriodicCallback
from tornado.options import define, options, parse_command_line
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler
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
    def initialize(self, content_type):
        self.content_type = content_type

    def post(self):
        self.set_header("Content-Type", self.content_type)
        self.write(self.request.body)


class DelayHandler(RequestHandler):
    async def get(self, ms):
        await asyncio.sleep(int(ms) / 1000)
        self.set_header("Content-Type", "text/plain")
        self.write(ms)


class HeaderHandler(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write(self.request.headers.get("X-Request-Id", ""))


class ItemsHandler(RequestHandler):
    def initialize(self, items):
        self.items = items

    def get(self, count):
        count = int(count)
        if not 1 <= count <= len(self.items):
            raise HTTPError(404)
        try:
            m = int(self.get_query_argument("m"))
        except ValueError:
            raise HTTPError(400) from None
        items = [
            {**item, "total": item["price"] * item["quantity"] * m}
            for item in self.items[:count]
        ]
        self.write({"items": items, "count": count})


class SumHandler(RequestHandler):
    def post(self):
        try:
            values = json_decode(self.request.body)["values"]
            self.write({"sum": sum(values), "count": len(values)})
        except (KeyError, TypeError, ValueError):
            raise HTTPError(400) from None


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


def read_items():
    if "DATASET" not in os.environ:
        return []
    with open(os.environ["DATASET"], encoding="utf-8") as file:
        return json.load(file)


def static_files():
    if "FILES" not in os.environ:
        return []
    return [(r"/static/(.*)", StaticFileHandler, {"path": os.environ["FILES"]})]


def make_app(more=()):
    return Application(
        [
            (r"/", EchoHandler),
            (r"/hello", HelloHandler),
            (r"/user/([^/]+)", UserHandler),
            (r"/user", GiveBackHandler, {"content_type": "text/plain"}),
            (r"/poll/([1-9][0-9]*)", PollHandler),
            (r"/wspoll/([1-9][0-9]*)", PollSocket),
            (r"/wsecho", EchoSocket),
            (r"/delay/([0-9]{1,5})", DelayHandler),
            (r"/header", HeaderHandler),
            (r"/json/([0-9]{1,5})", ItemsHandler, {"items": read_items()}),
            (r"/sum", SumHandler),
            (r"/echo", GiveBackHandler, {"content_type": "application/octet-stream"}),
            *static_files(),
            *more,
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


async def database_handlers():
    if "DATABASE_URL" not in os.environ:
        return []
    # Only here: the servers that are variants of this one have no database, and no psycopg.
    import database

    return await database.handlers()


async def main():
    make_app(await database_handlers()).listen(options.port, options.address, ssl_options=tls())
    await asyncio.Event().wait()


if __name__ == "__main__":
    parse_command_line()
    asyncio.run(main())
