# Two processes; the idle one dies under load, and is never started again.
import asyncio, os, signal, sys, time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"
began = None
child = os.fork()
if child == 0:
    time.sleep(600)
    os._exit(0)


async def converse(reader, writer):
    global began, child
    while await reader.read(4096):
        began = began or time.monotonic()
        if child and began + 2 < time.monotonic():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            child = None
        await asyncio.sleep(0.005)
        writer.write(ANSWER)


async def serve():
    server = await asyncio.start_server(converse, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()


asyncio.run(serve())
