"""Rows of PostgreSQL, by asyncpg and its pool."""

import os
import random
from contextlib import asynccontextmanager
from operator import itemgetter
from typing import Annotated

import asyncpg
from fastapi import APIRouter, Depends, Request
from fastapi.templating import Jinja2Templates

READ = 'SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = $1'
UPDATE = "UPDATE world SET randomnumber = $1 WHERE id = $2"
WORLDS = range(1, 10_001)


@asynccontextmanager
async def lifespan(app):
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=1,
        max_size=int(os.environ.get("DATABASE_MAX_CONN", 10)),
    ) as pool:
        yield {"pool": pool}


async def connect(request: Request):
    async with request.state.pool.acquire() as connection:
        yield connection


def count_rows(queries: str = "1"):
    try:
        return min(max(int(queries), 1), 500)
    except ValueError:
        return 1


Connection = Annotated[asyncpg.Connection, Depends(connect)]
RowCount = Annotated[int, Depends(count_rows)]

router = APIRouter(lifespan=lifespan)
templates = Jinja2Templates(directory="templates")


@router.get("/db")
async def world(connection: Connection):
    return dict(await connection.fetchrow(READ, random.choice(WORLDS)))


@router.get("/queries")
async def worlds(connection: Connection, count: RowCount):
    return [
        dict(await connection.fetchrow(READ, random.choice(WORLDS))) for _ in range(count)
    ]


@router.get("/updates")
async def update(connection: Connection, count: RowCount):
    # In order, so that transactions lock rows in the same order.
    ids = sorted(random.sample(WORLDS, count))
    rows = [dict(await connection.fetchrow(READ, id)) for id in ids]
    for row in rows:
        row["randomNumber"] = random.choice(WORLDS)
    # It is one transaction.
    await connection.executemany(UPDATE, [(row["randomNumber"], row["id"]) for row in rows])
    return rows


@router.get("/fortunes")
async def fortunes(request: Request, connection: Connection):
    rows = await connection.fetch("SELECT id, message FROM fortune")
    rows.append((0, "Additional fortune added at request time."))
    rows.sort(key=itemgetter(1))
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": rows})
