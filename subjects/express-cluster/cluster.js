// dyno's subject for Express with the cluster module: the first process shares one port among
// COUNT workers, each of which is Express' server.js.
//
//     node cluster.js ADDRESS PORT COUNT

import cluster from 'node:cluster';

if (cluster.isPrimary) {
  const count = Number(process.argv[4]);
  for (let started = 0; started < count; started += 1) cluster.fork();
} else {
  await import('./server.js');
}
