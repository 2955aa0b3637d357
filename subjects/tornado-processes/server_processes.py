"""dyno's subject for Tornado in several processes, which share the listening socket.

    python server_processes.py --address=127.0.0.1 --port=8080 --processes=2 \
        [--cert=chain.pem --key=key.pem]
"""

import asyncio
import os

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.options import define, options, parse_command_line
from tornado.process import fork_processes

from server import make_app, tls

define("processes", default=0, help="how many; 0 for one for each CPU")


async def serve(sockets, context, life):
    server = HTTPServer(make_app(), ssl_options=context)
    server.add_sockets(sockets)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(life, ended.set)
    await ended.wait()


def main():
    parse_command_line()
    sockets = bind_sockets(options.port, options.address)
    # Made before the fork, it lets each process resume the others' sessions.
    context = tls()
    # Tornado's first process does not pass a signal on. It alone keeps this pipe's other end, so
    # the others see the pipe close when it dies, and end as well.
    life, kept = os.pipe()
    fork_processes(options.processes)
    os.close(kept)
    asyncio.run(serve(sockets, context, life))


if __name__ == "__main__":
    main()
