"""A server of a database's workloads, with a fault in each fiftieth answer: PORT FAULT."""
import ctypes
import html
import http.server
import json
import os
import random
import signal
import sys
import threading

pq = ctypes.CDLL('libpq.so.5')
for name in ('PQconnectdb', 'PQexec', 'PQexecParams'):
    getattr(pq, name).restype = ctypes.c_void_p
pq.PQgetvalue.restype = pq.PQerrorMessage.restype = ctypes.c_char_p
FAULT = sys.argv[2]
ADDED = (0, 'Additional fortune added at request time.')
own = threading.local()
lock = threading.Lock()
asked = 0
cached = []


def connect():
    return ctypes.c_void_p(pq.PQconnectdb(os.environ['DATABASE_URL'].encode()))


def query(text):
    """The rows of an answer, as lists of text."""
    while True:
        if not hasattr(own, 'connection') or pq.PQstatus(own.connection) != 0:
            own.connection = connect()
        try:
            return read(pq.PQexec(own.connection, text.encode()))
        except RuntimeError:
            if FAULT != 'crash':
                raise


def query_in_transaction(text, id):
    """By the extended protocol, in a transaction that does not end."""
    if not hasattr(own, 'open'):
        own.open = connect()
        read(pq.PQexec(own.open, b'BEGIN'))
    values = (ctypes.c_char_p * 1)(str(id).encode())
    return read(pq.PQexecParams(own.open, text.encode(), 1, None, values, None, None, 0))


def read(result):
    result = ctypes.c_void_p(result)
    if pq.PQresultStatus(result) not in (1, 2):
        raise RuntimeError(pq.PQerrorMessage(own.connection).decode())
    value = lambda row, column: pq.PQgetvalue(result, row, column).decode()
    rows = [[value(row, column) for column in range(pq.PQnfields(result))] for row in range(pq.PQntuples(result))]
    pq.PQclear(result)
    return rows


ROW = ['SELECT id, randomnumber FROM world WHERE id = %d']
UPDATE = 'UPDATE world SET randomnumber = %d WHERE id = %d'
FORTUNES = 'SELECT id, message FROM fortune'
# As libraries write them; the other servers send them plainly.
if FAULT == 'none':
    ROW = ['/* one *row* **/ -- of many\n(%s)' % ROW[0], 'DECLARE one CURSOR FOR %s; FETCH ALL FROM one' % ROW[0]]
    # A loop fetches rows in parts, as a portal does.
    PARTS = """DO $$ DECLARE row record; page text := '';
        BEGIN FOR row IN %s LOOP page := page || row.id || E'\\t' || row.message || E'\\n'; END LOOP;
        PERFORM set_config('own.page', page, false); END $$; SELECT current_setting('own.page')""" % FORTUNES
    FORTUNES = 'DEALLOCATE ALL; PREPARE all_of_them AS %s; EXECUTE all_of_them' % FORTUNES
    UPDATE = 'WITH new (number) AS (VALUES (%d)) UPDATE world SET randomnumber = number FROM new WHERE id = %d'


def world(id, is_one):
    if FAULT == 'none' and not is_one and id % 3 == 0:
        [[id, number]] = query_in_transaction('SELECT id, randomnumber FROM world WHERE id = $1', id)
        return {'id': int(id), 'randomNumber': int(number)}
    [[id, number]] = query(ROW[id % len(ROW)] % id)
    return {'id': int(id), 'randomNumber': int(number)}


def drawn(count):
    return random.sample(range(1, 10001), count)


def rows(count, fault):
    ids = drawn(count)
    if fault == 'constant':
        ids = [7] * count
    if fault == 'batched':
        found = query('SELECT id, randomnumber FROM world WHERE id IN (%s)' % ','.join(map(str, ids)))
        return [{'id': int(id), 'randomNumber': int(number)} for id, number in found]
    answered = [world(id, count == 1) for id in ids]
    if fault == 'number':
        answered[-1]['randomNumber'] = answered[-1]['randomNumber'] % 10000 + 1
    return answered


def updated(count, fault):
    answered = []
    for id in sorted(drawn(count)):
        row = world(id, False)
        old, row['randomNumber'] = row['randomNumber'], row['randomNumber'] % 10000 + 1
        answered.append(row)
        if fault != 'unwritten':
            query(UPDATE % (row['randomNumber'], id))
        if fault == 'undone':
            query('UPDATE world SET randomnumber = %d WHERE id = %d' % (old, id))
    return answered


def page(fault):
    if FAULT == 'none' and random.random() < 0.5:
        [[page]] = query(PARTS)
        found = [line.split('\t') for line in page.splitlines()]
    else:
        found = query(FORTUNES)
    found = [(int(id), message) for id, message in found]
    found = sorted(found + [ADDED], key=lambda row: row[1])
    if fault == 'unsorted':
        found[3], found[4] = found[4], found[3]
    escape = (lambda text: text) if fault == 'unescaped' else html.escape
    rows = ''.join('<tr><td>%d</td><td>%s</td></tr>' % (id, escape(message)) for id, message in found)
    return ('<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>'
            + rows + '</table></body></html>')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        global asked
        with lock:
            asked += 1
            fault = FAULT if asked % 50 == 0 or FAULT == 'batched' else 'none'
        if fault == 'crash':
            # The database ends all its sessions, recovers, and counts anew.
            query('SELECT 1')
            os.kill(pq.PQbackendPID(own.connection), signal.SIGKILL)
        path, _, count = self.path.partition('?queries=')
        kind = 'application/json'
        if path == '/db' and fault == 'memory' and cached:
            body = json.dumps(random.choice(cached))
        elif path == '/db':
            [row] = rows(1, fault)
            cached.append(row)
            body = json.dumps(row)
        elif path == '/queries':
            body = json.dumps(rows(int(count), fault))
        elif path == '/updates':
            body = json.dumps(updated(int(count), fault))
        else:
            kind, body = 'text/html; charset=utf-8', page(fault)
        body = body.encode()
        if fault == 'truncated':
            body = body[:-1]
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
