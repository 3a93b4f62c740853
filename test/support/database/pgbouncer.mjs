/** PgBouncer in transaction mode before a PostgreSQL, as a process of the test; it takes and gives SCRAM. */
import { writeFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../ports.mjs';
import { programPath } from '../programs.mjs';
import { serverDirectory, startDaemon } from './debian-postgres.mjs';

/**
 * Starts one; `port` is that of the PostgreSQL on this machine. `settings` are further lines of its [pgbouncer] section. With the
 * `pki` of a PostgreSQL that demands TLS it gives what that one demands, and demands TLS from its own clients.
 */
export async function startPgBouncer({ port: postgresPort, user, password, pki, settings = [] }) {
  const directory = serverDirectory('grid-pgbouncer-');
  const port = await freePort();
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  await writeFile(join(directory, 'users'), `${quoted(user)} ${quoted(password)}\n`);
  const file = join(directory, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${pki ? 'localhost' : '127.0.0.1'} port=${postgresPort}`,
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
    ...(pki ? tlsSettings(pki) : []),
    ...settings,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const daemon = await startDaemon({
    program: programPath('pgbouncer'),
    args: [file],
    directory,
    port,
    stopSignal: 'SIGINT',
  });
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  return {
    port,
    log: daemon.log,
    url: (database) =>
      pki
        ? `postgres://${login}@localhost:${port}/${database}?sslmode=verify-full&sslrootcert=${pki.ca}`
        : `postgres://${login}@127.0.0.1:${port}/${database}`,
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function tlsSettings({ ca, serverCert, serverKey, clientCert, clientKey }) {
  return [
    'client_tls_sslmode = require',
    `client_tls_cert_file = ${serverCert}`,
    `client_tls_key_file = ${serverKey}`,
    'server_tls_sslmode = verify-full',
    `server_tls_ca_file = ${ca}`,
    `server_tls_cert_file = ${clientCert}`,
    `server_tls_key_file = ${clientKey}`,
  ];
}
