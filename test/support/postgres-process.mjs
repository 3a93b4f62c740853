/**
 * A PostgreSQL of its own for a test that stops and starts it:
 *   node postgres-process.mjs <home> <port>
 * The server listens on a unix socket whose place changes with every start; it is reached over 127.0.0.1:<port>.
 * SIGTERM stops both; SIGUSR2 kills PostgreSQL itself (kill -9), and it is started again.
 */
import { join } from 'node:path';
import { createServer, connect } from 'node:net';

const [home, port] = process.argv.slice(2);
const { startEmbeddedPostgres } = await import('#src/embedded-postgres/index.js');
const postgres = await startEmbeddedPostgres({ home });
const { host, port: number, user, password, database } = postgres.connection;
const sockets = new Set();

const forwarder = createServer((inner) => {
  const outer = connect(join(host, `.s.PGSQL.${number}`));
  for (const socket of [inner, outer]) {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  }
  inner.once('close', () => outer.destroy());
  outer.once('close', () => inner.destroySoon());
  inner.pipe(outer).pipe(inner);
});
forwarder.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`ready postgres://${user}:${password}@127.0.0.1:${port}/${database}\n`);
});

process.on('SIGUSR2', () => {
  if (postgres.pid !== undefined) process.kill(postgres.pid, 'SIGKILL');
});
process.once('SIGTERM', () => {
  forwarder.close();
  void postgres.stop().then(() => {
    for (const socket of sockets) socket.destroy();
    process.exit(0);
  });
});
