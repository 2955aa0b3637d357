"""dyno's subject for Tornado on Twisted: Tornado's server on the event loop of Twisted's reactor.

    python server_on_twisted.py --address=127.0.0.1 --port=8080 [--cert=chain.pem --key=key.pem]
"""

import asyncio

from twisted.internet import asyncioreactor

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
asyncioreactor.install(loop)

# Only now: this import would install the default reactor.
from twisted.internet import reactor

from tornado.options import options, parse_command_line

from server import make_app, tls


async def listen():
    make_app().listen(options.port, options.address, ssl_options=tls())


if __name__ == "__main__":
    parse_command_line()
    loop.run_until_complete(listen())
    reactor.run()
