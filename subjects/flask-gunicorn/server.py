"""dyno's subject for Flask: an application of views, which gunicorn serves.

    gunicorn --bind 127.0.0.1:8080 server:app [--certfile chain.pem --keyfile key.pem]
"""

import json
import os
import time

from flask import Flask, Response, abort, request


def read_items():
    if "DATASET" not in os.environ:
        return []
    with open(os.environ["DATASET"], encoding="utf-8") as file:
        return json.load(file)


items = read_items()
app = Flask(__name__)


def text(body):
    return Response(body, mimetype="text/plain")


@app.get("/")
def echo():
    if not request.args:
        return ""
    value = request.args.get("value")
    answer = "<error>no value specified</error>" if value is None else f"<value>{value}</value>"
    return Response(f"<http_test>{answer}</http_test>", mimetype="text/xml")


@app.get("/hello")
def hello():
    return text("Hello, world!")


@app.get("/user/<id>")
def user(id):
    return text(id)


@app.post("/user")
def give_back():
    return text(request.get_data())


@app.get("/delay/<int:ms>")
def delay(ms):
    time.sleep(ms / 1000)
    return text(str(ms))


@app.get("/header")
def header():
    return text(request.headers.get("X-Request-Id", ""))


@app.get("/json/<int:count>")
def list_items(count):
    if not 1 <= count <= len(items):
        abort(404)
    m = request.args.get("m", type=int)
    if m is None:
        abort(400)
    listed = [
        {**item, "total": item["price"] * item["quantity"] * m} for item in items[:count]
    ]
    return {"items": listed, "count": count}


@app.post("/sum")
def add():
    values = request.get_json().get("values")
    if not isinstance(values, list):
        abort(400)
    return {"sum": sum(values), "count": len(values)}


@app.post("/echo")
def give_octets_back():
    return Response(request.get_data(), mimetype="application/octet-stream")
