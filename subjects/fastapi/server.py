"""dyno's subject for FastAPI: an application of path operations, which uvicorn serves.

    uvicorn server:app --host 127.0.0.1 --port 8080 [--ssl-certfile chain.pem --ssl-keyfile key.pem]
"""

import asyncio
import json
import os
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel

import database


class Numbers(BaseModel):
    values: list[int]


def read_items():
    if "DATASET" not in os.environ:
        return []
    with open(os.environ["DATASET"], encoding="utf-8") as file:
        return json.load(file)


items = read_items()
app = FastAPI()
if "DATABASE_URL" in os.environ:
    app.include_router(database.router)


@app.get("/")
async def echo(request: Request, value: str | None = None):
    if not request.query_params:
        return Response()
    answer = "<error>no value specified</error>" if value is None else f"<value>{value}</value>"
    return Response(f"<http_test>{answer}</http_test>", media_type="text/xml")


@app.get("/hello")
async def hello():
    return PlainTextResponse("Hello, world!")


@app.get("/user/{id}")
async def user(id: str):
    return PlainTextResponse(id)


@app.post("/user")
async def give_back(request: Request):
    return PlainTextResponse(await request.body())


@app.get("/delay/{ms}")
async def delay(ms: int):
    await asyncio.sleep(ms / 1000)
    return PlainTextResponse(str(ms))


@app.get("/header")
async def header(x_request_id: Annotated[str, Header()]):
    return PlainTextResponse(x_request_id)


@app.get("/json/{count}")
async def list_items(count: int, m: int):
    if not 1 <= count <= len(items):
        raise HTTPException(404)
    listed = [
        {**item, "total": item["price"] * item["quantity"] * m} for item in items[:count]
    ]
    return {"items": listed, "count": count}


@app.post("/sum")
async def add(numbers: Numbers):
    return {"sum": sum(numbers.values), "count": len(numbers.values)}


@app.post("/echo")
async def give_octets_back(request: Request):
    return Response(await request.body(), media_type="application/octet-stream")


if "FILES" in os.environ:
    app.mount("/static", StaticFiles(directory=os.environ["FILES"]))
