# A server of workloads that resemble work, with a fault in every fiftieth answer: python3 work.py PORT DATASET FAULT
import itertools, json, socket, sys, threading, time

port, fault = int(sys.argv[1]), sys.argv[3]
with open(sys.argv[2]) as file:
    items = json.load(file)
numbers = itertools.count(1)
# What the answer before was made of.
earlier = {}


def page(count, times):
    chosen = [{**item, "total": item["price"] * item["quantity"] * times} for item in items[:count]]
    return {"items": chosen, "count": count}


def json_of(path, is_faulty):
    count, times = path.removeprefix("/json/").split("?m=")
    right = page(int(count), int(times))
    if is_faulty and fault == "total":
        right["items"][-1]["total"] += 1
    if is_faulty and fault == "extra":
        right["items"][0]["cost"] = 1
    if is_faulty and fault == "stale":
        right = page(int(count) % 50 + 1, int(times))
    if fault == "forms":
        # Numbers as doubles, and members in another order.
        right = {"count": float(count), "items": right["items"]}
    return json.dumps(right, ensure_ascii=False, sort_keys=is_faulty and fault == "forms")


def answer(path, fields, body, is_faulty):
    if path.startswith("/delay/"):
        ms = path.removeprefix("/delay/")
        time.sleep(0 if is_faulty else int(ms) / 1000)
        return "text/plain", ms.encode()
    if path == "/header":
        return "text/plain", fields["x-request-id"].encode()[:15 if is_faulty else None]
    if path.startswith("/json/"):
        return "application/json", json_of(path, is_faulty).encode()
    if path == "/sum":
        body, earlier["sum"] = (earlier.get("sum", b"") if is_faulty else body), body
        values = json.loads(body)["values"]
        return "application/json", json.dumps({"sum": sum(values), "count": len(values)}).encode()
    if is_faulty and fault == "byte":
        body = body[:5000] + bytes([body[5000] ^ 1]) + body[5001:]
    if is_faulty and fault == "cut":
        body = body[:-1]
    return "application/octet-stream", body


def read_body(stream, fields):
    if fields.get("transfer-encoding") != "chunked":
        return stream.read(int(fields.get("content-length", 0)))
    body = b""
    while length := int(stream.readline(), 16):
        body += stream.read(length)
        stream.readline()
    stream.readline()
    return body


def converse(peer):
    stream = peer.makefile("rb")
    while line := stream.readline():
        _, path, _ = line.decode().split(" ")
        fields = {}
        while (field := stream.readline().decode().strip()):
            name, value = field.split(":", 1)
            fields[name.lower()] = value.strip()
        body = read_body(stream, fields)
        is_faulty = fault != "none" and next(numbers) % 50 == 49
        kind, content = answer(path, fields, body, is_faulty)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
        peer.sendall(head.encode() + content)


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=converse, args=(connection,), daemon=True).start()
