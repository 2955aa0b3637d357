// A server whose requests cost CPU time: server.js PORT PERCENT, so many percent more than without.
const http = require('http');
const [port, percent] = process.argv.slice(2).map(Number);
// Of a request nearly all is this work, so that a percent of it is a percent of the request.
const turns = 300000 * (1 + percent / 100);
http.createServer((_, answer) => {
  let sum = 0;
  for (let turn = 0; turn < turns; turn++) sum += Math.sqrt(turn);
  answer.setHeader('content-type', 'text/plain');
  answer.end(sum > 0 ? 'Hello, world!' : '');
}).listen(port, '127.0.0.1');
