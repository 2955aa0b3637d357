// dyno's subject for Node.js: its own modules for HTTP by themselves, ws for the WebSocket, and pg
// for the database.
//
//     node server.js ADDRESS PORT PROTOCOL [CERTIFICATE KEY]

import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { sendFile } from './files.js';

const [address, port, protocol, cert, key] = process.argv.slice(2);

const items = process.env.DATASET ? JSON.parse(readFileSync(process.env.DATASET)) : [];

const database = process.env.DATABASE_URL ? await import('./database.js') : null;

const server = createServer(protocol);

function createServer(protocol) {
  const pair = () => ({ cert: readFileSync(cert), key: readFileSync(key) });
  switch (protocol) {
    case 'http/1.1': return http.createServer(answer);
    case 'http/1.1+tls': return https.createServer(pair(), answer);
    case 'h2c': return http2.createServer(answer);
    case 'h2': return http2.createSecureServer(pair(), answer);
    default: throw new Error(`unknown protocol: ${protocol}`);
  }
}

function answer(request, response) {
  const url = parsed(request.url);
  if (!url) {
    response.writeHead(404).end();
    return;
  }
  const { pathname, search, searchParams } = url;
  const [room, name, ...more] = pathname.slice(1).split('/');
  const known = more.length === 0;

  if (request.method === 'GET' && pathname === '/') {
    if (search) echo(searchParams.get('value'), response);
    else response.end();
  } else if (request.method === 'GET' && pathname === '/hello') {
    text('Hello, world!', response);
  } else if (request.method === 'GET' && room === 'user' && name && known) {
    text(name, response);
  } else if (request.method === 'POST' && pathname === '/user') {
    // A body that ends early: the client has gone.
    giveBack('text/plain', request, response).catch(() => response.destroy());
  } else if (request.method === 'GET' && room === 'poll' && isPeriod(name) && known) {
    poll(Number(name), response);
  } else if (request.method === 'GET' && room === 'delay' && isNumber(name) && known) {
    setTimeout(() => text(name, response), Number(name));
  } else if (request.method === 'GET' && pathname === '/header') {
    text(request.headers['x-request-id'] ?? '', response);
  } else if (request.method === 'GET' && room === 'json' && isCount(name) && known) {
    list(Number(name), searchParams.get('m'), response);
  } else if (request.method === 'GET' && room === 'static' && name && known) {
    sendFile(name, request, response).catch(() => response.destroy());
  } else if (request.method === 'POST' && pathname === '/sum') {
    sum(request, response).catch(() => response.destroy());
  } else if (request.method === 'POST' && pathname === '/echo') {
    giveBack('application/octet-stream', request, response).catch(() => response.destroy());
  } else if (database && request.method === 'GET' && databasePages.has(pathname)) {
    databasePages.get(pathname)(searchParams, response).catch((error) => fail(error, response));
  } else {
    response.writeHead(404).end();
  }
}

const databasePages = new Map([
  ['/db', async (query, response) => json(await database.world(), response)],
  ['/queries', async (query, response) => json(await database.worlds(rowCount(query)), response)],
  ['/updates', async (query, response) => json(await database.updated(rowCount(query)), response)],
  ['/fortunes', async (query, response) => html(await database.fortunes(), response)],
]);

// The query's number of rows, from 1 to 500; 1 if it has none.
function rowCount(query) {
  const queries = query.get('queries');
  return /^\d+$/.test(queries) ? Math.min(Math.max(Number(queries), 1), 500) : 1;
}

function fail(error, response) {
  console.error(error);
  response.writeHead(500).end();
}

// Not every target is a URL, and what is thrown here would end the program.
function parsed(target) {
  try {
    return new URL(target.startsWith('/') ? `http://localhost${target}` : target);
  } catch {
    return null;
  }
}

function echo(value, response) {
  const answer =
    value === null ? '<error>no value specified</error>' : `<value>${value}</value>`;
  response.setHeader('Content-Type', 'text/xml');
  response.end(`<http_test>${answer}</http_test>`);
}

function text(body, response) {
  response.setHeader('Content-Type', 'text/plain');
  response.end(body);
}

function json(value, response) {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(value));
}

function html(page, response) {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(page);
}

async function giveBack(type, request, response) {
  const body = await buffer(request);
  response.setHeader('Content-Type', type);
  response.end(body);
}

function list(count, m, response) {
  if (!isNumber(m)) {
    response.writeHead(400).end();
    return;
  }
  const total = (item) => item.price * item.quantity * Number(m);
  const listed = items.slice(0, count).map((item) => ({ ...item, total: total(item) }));
  json({ items: listed, count }, response);
}

async function sum(request, response) {
  const values = valuesOf(await buffer(request));
  if (values) json({ sum: values.reduce((a, b) => a + b, 0), count: values.length }, response);
  else response.writeHead(400).end();
}

// What is no JSON throws, and would end the program.
function valuesOf(body) {
  try {
    const { values } = JSON.parse(body);
    return Array.isArray(values) ? values : null;
  } catch {
    return null;
  }
}

function poll(seconds, response) {
  response.setHeader('Content-Type', 'text/plain');
  response.write('tick\n');
  const timer = setInterval(() => response.write('tick\n'), seconds * 1000);
  response.on('close', () => clearInterval(timer));
}

function isNumber(text) {
  return /^\d{1,5}$/.test(text);
}

function isCount(text) {
  return isNumber(text) && Number(text) >= 1 && Number(text) <= items.length;
}

function isPeriod(text) {
  return /^[1-9]\d*$/.test(text);
}

const sockets = new WebSocketServer({ noServer: true });

server.on('upgrade', (request, socket, head) => {
  const [, room, name, ...more] = request.url.split('/');
  const isPoll = room === 'wspoll' && isPeriod(name) && more.length === 0;
  const isEcho = request.url === '/wsecho';
  if (!isPoll && !isEcho) {
    // No other handler learns that the client has gone, and an error without a handler ends the program.
    socket.on('error', console.error);
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    return;
  }
  sockets.handleUpgrade(request, socket, head, (webSocket) => {
    webSocket.on('error', console.error);
    if (isPoll) pollSocket(webSocket, Number(name));
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

server.listen(Number(port), address);
