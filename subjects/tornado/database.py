"""Rows of PostgreSQL, by psycopg and its pool."""

import os
import random
from operator import itemgetter

from psycopg_pool import AsyncConnectionPool
from tornado.escape import json_encode
from tornado.web import RequestHandler

READ = "SELECT id, randomnumber FROM world WHERE id = %s"
UPDATE = "UPDATE world SET randomnumber = %s WHERE id = %s"
WORLDS = range(1, 10_001)


class DatabaseHandler(RequestHandler):
    def initialize(self, pool):
        self.pool = pool

    def row_count(self):
        """The query's number of rows, from 1 to 500; 1 if it has none."""
        try:
            return min(max(int(self.get_query_argument("queries", "1")), 1), 500)
        except ValueError:
            return 1

    def write_json(self, value):
        self.set_header("Content-Type", "application/json")
        self.write(json_encode(value))


class WorldHandler(DatabaseHandler):
    async def get(self):
        async with self.pool.connection() as connection:
            row = await read(connection, random.choice(WORLDS))
        self.write_json(row)


class WorldsHandler(DatabaseHandler):
    async def get(self):
        async with self.pool.connection() as connection:
            rows = [
                await read(connection, random.choice(WORLDS)) for _ in range(self.row_count())
            ]
        self.write_json(rows)


class UpdateHandler(DatabaseHandler):
    async def get(self):
        # In order, so that transactions lock rows in the same order.
        ids = sorted(random.sample(WORLDS, self.row_count()))
        # The transaction is committed at the block's end.
        async with self.pool.connection() as connection:
            rows = [await read(connection, id) for id in ids]
            for row in rows:
                row["randomNumber"] = random.choice(WORLDS)
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    UPDATE, [(row["randomNumber"], row["id"]) for row in rows]
                )
        self.write_json(rows)


class FortunesHandler(DatabaseHandler):
    async def get(self):
        async with self.pool.connection() as connection:
            cursor = await connection.execute("SELECT id, message FROM fortune")
            rows = await cursor.fetchall()
        rows.append((0, "Additional fortune added at request time."))
        rows.sort(key=itemgetter(1))
        self.render("fortunes.html", fortunes=rows)


async def read(connection, id):
    cursor = await connection.execute(READ, (id,))
    id, number = await cursor.fetchone()
    return {"id": id, "randomNumber": number}


async def handlers():
    pool = AsyncConnectionPool(
        os.environ["DATABASE_URL"],
        min_size=1,
        max_size=int(os.environ.get("DATABASE_MAX_CONN", 4)),
        open=False,
    )
    await pool.open()
    return [
        (r"/db", WorldHandler, {"pool": pool}),
        (r"/queries", WorldsHandler, {"pool": pool}),
        (r"/updates", UpdateHandler, {"pool": pool}),
        (r"/fortunes", FortunesHandler, {"pool": pool}),
    ]
