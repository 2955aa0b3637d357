// Files below FILES, as a program without a library sends them: streams of node:fs and node:zlib.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliCompress, createGzip, constants } from 'node:zlib';

const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

export async function sendFile(name, request, response) {
  const path = join(process.env.FILES ?? '', name);
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || name.startsWith('.')) {
    response.writeHead(404).end();
    return;
  }
  const tag = `"${found.size.toString(16)}-${found.mtimeMs.toString(16)}"`;
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304).end();
    return;
  }
  const type = types[extname(name)] ?? 'application/octet-stream';
  response.setHeader('Content-Type', type);
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (range && Number(range[1]) <= Number(range[2]) && Number(range[2]) < found.size) {
    const [start, end] = [Number(range[1]), Number(range[2])];
    response.setHeader('Content-Range', `bytes ${start}-${end}/${found.size}`);
    response.setHeader('Content-Length', end - start + 1);
    response.writeHead(206);
    await pipeline(createReadStream(path, { start, end }), response);
    return;
  }
  const encoder = compressor(type, request.headers['accept-encoding'] ?? '');
  if (encoder) {
    response.setHeader('Content-Encoding', encoder.coding);
    await pipeline(createReadStream(path), encoder.stream(), response);
  } else {
    response.setHeader('Content-Length', found.size);
    await pipeline(createReadStream(path), response);
  }
}

// Text is compressed while it is sent; Brotli's default level is meant for what is compressed once.
function compressor(type, accepted) {
  if (!/^text|json$|xml$/.test(type)) return null;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  if (/\bbr\b/.test(accepted)) return { coding: 'br', stream: () => createBrotliCompress({ params }) };
  if (/\bgzip\b/.test(accepted)) return { coding: 'gzip', stream: () => createGzip() };
  return null;
}
