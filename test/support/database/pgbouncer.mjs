/** PgBouncer in transaction mode before a PostgreSQL, as a process of the test; it takes and gives SCRAM. */
import { writeFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../ports.mjs';
import { serverDirectory, startDaemon } from './debian-postgres.mjs';

/** Starts one; `port` is that of the PostgreSQL on 127.0.0.1. `settings` are further lines of its [pgbouncer] section. */
export async function startPgBouncer({ port: postgresPort, user, password, settings = [] }) {
  const directory = serverDirectory('grid-pgbouncer-');
  const port = await freePort();
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  await writeFile(join(directory, 'users'), `${quoted(user)} ${quoted(password)}\n`);
  const file = join(directory, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${postgresPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(directory, 'users')}`,
    'pool_mode = transaction',
    'default_pool_size = 10',
    'max_client_conn = 1000',
    'server_idle_timeout = 5',
    'server_login_retry = 1',
    'query_wait_timeout = 20',
    ...settings,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const daemon = await startDaemon({
    program: '/usr/sbin/pgbouncer',
    args: [file],
    directory,
    port,
    stopSignal: 'SIGINT',
  });
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  return {
    port,
    log: daemon.log,
    url: (database) => `postgres://${login}@127.0.0.1:${port}/${database}`,
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
