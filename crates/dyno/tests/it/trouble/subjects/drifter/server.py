# Each second it takes 20 ms longer to answer: far more than a busy machine does by chance.
import asyncio, sys, time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"
began = None


async def converse(reader, writer):
    global began
    while await reader.read(4096):
        began = began or time.monotonic()
        await asyncio.sleep(0.004 + (time.monotonic() - began) * 0.020)
        writer.write(ANSWER)


async def serve():
    server = await asyncio.start_server(converse, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()


asyncio.run(serve())
