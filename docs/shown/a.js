// The server `a` of README's race: `make readme-output`.
const port = process.argv[process.argv.indexOf('--port') + 1]
require('node:http').createServer((request, response) => response.end('Hello, world!')).listen(port)
