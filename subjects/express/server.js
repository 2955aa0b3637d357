// dyno's subject for Express: an application of routes, and ws for the WebSocket.
//
//     node server.js ADDRESS PORT [CERTIFICATE KEY]

import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import express from 'express';
import { WebSocketServer } from 'ws';

const [address, port, cert, key] = process.argv.slice(2);

const items = process.env.DATASET ? JSON.parse(readFileSync(process.env.DATASET)) : [];

const app = express();

app.get('/', (req, res) => {
  if (Object.keys(req.query).length === 0) {
    res.send();
  } else if (req.query.value === undefined) {
    res.type('text/xml').send('<http_test><error>no value specified</error></http_test>');
  } else {
    res.type('text/xml').send(`<http_test><value>${req.query.value}</value></http_test>`);
  }
});

app.get('/hello', (req, res) => {
  res.type('text/plain').send('Hello, world!');
});

app.get('/user/:id', (req, res) => {
  res.type('text/plain').send(req.params.id);
});

app.post('/user', express.raw({ type: () => true }), (req, res) => {
  res.type('text/plain').send(req.body ?? '');
});

app.get(/^\/poll\/([1-9]\d*)$/, (req, res) => {
  res.type('text/plain');
  res.write('tick\n');
  const timer = setInterval(() => res.write('tick\n'), Number(req.params[0]) * 1000);
  res.on('close', () => clearInterval(timer));
});

app.get(/^\/delay\/(\d{1,5})$/, (req, res) => {
  const ms = req.params[0];
  setTimeout(() => res.type('text/plain').send(ms), Number(ms));
});

app.get('/header', (req, res) => {
  res.type('text/plain').send(req.get('X-Request-Id'));
});

app.get('/json/:count', (req, res, next) => {
  const count = Number(req.params.count);
  const m = Number(req.query.m);
  if (!Number.isInteger(count) || count < 1 || count > items.length) {
    next();
  } else if (!Number.isInteger(m)) {
    res.status(400).end();
  } else {
    const total = (item) => item.price * item.quantity * m;
    const listed = items.slice(0, count).map((item) => ({ ...item, total: total(item) }));
    res.json({ items: listed, count });
  }
});

app.post('/sum', express.json(), (req, res) => {
  const values = req.body?.values;
  if (Array.isArray(values)) {
    res.json({ sum: values.reduce((a, b) => a + b, 0), count: values.length });
  } else {
    res.status(400).end();
  }
});

app.post('/echo', express.raw({ type: () => true }), (req, res) => {
  res.type('application/octet-stream').send(req.body ?? '');
});

if (process.env.FILES) app.use('/static', express.static(process.env.FILES));

app.use((req, res) => {
  res.status(404).end();
});

const server = cert
  ? https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, app)
  : http.createServer(app);

server.listen(Number(port), address);

const sockets = new WebSocketServer({ noServer: true });

server.on('upgrade', (req, socket, head) => {
  const period = /^\/wspoll\/([1-9]\d*)$/.exec(req.url);
  const isEcho = req.url === '/wsecho';
  if (!period && !isEcho) {
    // No other handler learns that the client has gone, and an error without a handler ends the program.
    socket.on('error', console.error);
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    return;
  }
  sockets.handleUpgrade(req, socket, head, (webSocket) => {
    webSocket.on('error', console.error);
    if (period) pollSocket(webSocket, Number(period[1]));
    else echoSocket(webSocket);
  });
});

function pollSocket(webSocket, seconds) {
  webSocket.send('tick');
  const timer = setInterval(() => webSocket.send('tick'), seconds * 1000);
  webSocket.on('close', () => clearInterval(timer));
}

function echoSocket(webSocket) {
  webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
}
