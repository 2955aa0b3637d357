"""dyno's subject for Hypercorn: an ASGI application without a framework.

    hypercorn --config hypercorn.toml --bind 127.0.0.1:8080 server:application
"""

import asyncio
from urllib.parse import parse_qs


async def application(scope, receive, send):
    match scope["type"]:
        case "http":
            await answer(scope, receive, send)
        case "websocket":
            await talk(scope, receive, send)
        case "lifespan":
            await live(receive, send)


async def live(receive, send):
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def answer(scope, receive, send):
    match scope["method"], scope["path"].split("/")[1:]:
        case "GET", [""]:
            await echo(scope["query_string"].decode(), send)
        case "GET", ["hello"]:
            await reply(send, 200, b"Hello, world!", b"text/plain")
        case "GET", ["user", user] if user:
            await reply(send, 200, user.encode(), b"text/plain")
        case "POST", ["user"]:
            await reply(send, 200, await whole_body(receive), b"text/plain")
        case "GET", ["poll", seconds] if is_period(seconds):
            await poll(receive, send, int(seconds))
        case _:
            await reply(send, 404, b"")


async def echo(query, send):
    if not query:
        await reply(send, 200, b"")
        return
    values = parse_qs(query, keep_blank_values=True).get("value")
    if values is None:
        body = "<http_test><error>no value specified</error></http_test>"
    else:
        body = f"<http_test><value>{values[0]}</value></http_test>"
    await reply(send, 200, body.encode(), b"text/xml")


async def reply(send, status, body, content_type=None):
    headers = [(b"content-length", b"%d" % len(body))]
    if content_type:
        headers.append((b"content-type", content_type))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def whole_body(receive):
    body = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body", False):
            return body


def is_period(text):
    return text.isdecimal() and int(text) > 0


async def poll(receive, send, seconds):
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    tick = {"type": "http.response.body", "body": b"tick\n", "more_body": True}
    await beat(receive, send, seconds, tick)


async def beat(receive, send, seconds, tick):
    """Sends at once and then every so often, until the client has gone."""
    gone = asyncio.create_task(disconnected(receive))
    while not gone.done():
        await send(tick)
        await asyncio.wait([gone], timeout=seconds)


async def disconnected(receive):
    while not (await receive())["type"].endswith(".disconnect"):
        pass


async def talk(scope, receive, send):
    await receive()
    match scope["path"].split("/")[1:]:
        case ["wspoll", seconds] if is_period(seconds):
            await send({"type": "websocket.accept"})
            await beat(receive, send, int(seconds), {"type": "websocket.send", "text": "tick"})
        case ["wsecho"]:
            await send({"type": "websocket.accept"})
            await give_back(receive, send)
        case _:
            # Before it is accepted, this is the answer 403.
            await send({"type": "websocket.close"})


async def give_back(receive, send):
    while (event := await receive())["type"] == "websocket.receive":
        content = {key: event[key] for key in ("text", "bytes") if event.get(key) is not None}
        await send({"type": "websocket.send", **content})
