// The server `b` of README's race: it parses each address, and counts its answers in a copied object.
const port = process.argv[process.argv.indexOf('--port') + 1]
let counts = {}
require('node:http').createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  counts = { ...counts, [pathname]: (counts[pathname] ?? 0) + 1 }
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.end('Hello, world!')
}).listen(port)
