import { connect, createServer } from 'node:net';

/**
 * Listens at `at` and carries each connection to `to`, both a port of 127.0.0.1 or the path of a socket. Resolves when
 * it listens.
 */
export async function bridge(at, to) {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...place(to), allowHalfOpen: true });
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(place(at), resolve);
  });
  return server;
}

function place(at) {
  return typeof at === 'number' ? { port: at, host: '127.0.0.1' } : { path: at };
}
