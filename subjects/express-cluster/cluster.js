// dyno's subject for Express with the cluster module: the first process shares one port among
// COUNT workers, each of which is Express' server.js.
//
//     node cluster.js ADDRESS PORT COUNT [CERTIFICATE KEY]

import cluster from 'node:cluster';

if (cluster.isPrimary) {
  const [address, port, count, ...pair] = process.argv.slice(2);
  cluster.setupPrimary({ args: [address, port, ...pair] });
  for (let started = 0; started < Number(count); started += 1) cluster.fork();
} else {
  await import('./server.js');
}
