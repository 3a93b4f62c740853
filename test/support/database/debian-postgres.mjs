/**
 * A PostgreSQL of the distribution (Debian's packages) as a process of the test: a directory of its own, a loopback port and a
 * unix socket of its own, SCRAM everywhere. As root it runs as the account `postgres`. Nothing system-wide is touched.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../ports.mjs';
import { postgresPrograms } from '../programs.mjs';

const DEADLINE_MS = 30_000;

/** The account for servers that refuse to run as root; {} for anybody else. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'));
  const [, , uid, gid] = (line ?? 'nobody:x:65534:65534').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** A directory that the account of the servers owns. */
export function serverDirectory(prefix) {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  const { uid, gid } = unprivileged();
  if (uid !== undefined) execFileSync('chown', [`${uid}:${gid}`, directory]);
  return directory;
}

/** A daemon in the foreground as the unprivileged account; `stop` waits for its end. */
export async function startDaemon({ program, args, directory, port, stopSignal = 'SIGTERM' }) {
  const log = join(directory, 'daemon.log');
  const file = openSync(log, 'a');
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    stdio: ['ignore', file, file],
    ...unprivileged(),
  });
  closeSync(file);
  const exited = once(child, 'exit').catch(() => undefined);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = Date.now() + DEADLINE_MS;
  while (!(await accepts(port))) {
    if (hasEnded() || child.pid === undefined || Date.now() > end) {
      child.kill('SIGKILL');
      throw new Error(`${program} does not listen: ${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return {
    pid: child.pid,
    log: () => readFileSync(log, 'utf8'),
    async stop() {
      if (!hasEnded()) child.kill(stopSignal);
      await exited;
    },
  };
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * Starts a cluster. `tls`: TCP takes TLS with a client certificate of the user's name only (files in `pki`); without it TCP
 * takes SCRAM without TLS. `rules` are further lines of pg_hba.conf, read first.
 */
export async function startDebianPostgres({ user, password, tls = false, rules = [] }) {
  const bin = postgresPrograms();
  if (bin === undefined) throw new Error('PostgreSQL is not installed (package postgresql)');
  const directory = serverDirectory('grid-debian-pg-');
  const port = await freePort();
  const data = join(directory, 'data');
  const pki = tls ? await makePki(join(directory, 'pki'), user) : undefined;
  const secret = join(directory, 'secret');
  await writeFile(secret, `${password}\n`, { mode: 0o644 });
  const initdb = ['-D', data, '-U', user, '-A', 'scram-sha-256', '--pwfile', secret];
  const options = { ...unprivileged(), cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] };
  execFileSync(join(bin, 'initdb'), [...initdb, '-E', 'UTF8', '--locale=C.UTF-8', '-N'], options);
  await rm(secret);
  await writeFile(join(data, 'pg_hba.conf'), hbaRules(tls, rules));
  await appendFile(join(data, 'postgresql.conf'), settings({ port, directory, pki }));
  const daemon = await startDaemon({
    program: join(bin, 'postgres'),
    args: ['-D', data],
    directory,
    port,
    stopSignal: 'SIGINT',
  });
  await untilReady(join(data, 'postmaster.pid'));
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  return {
    directory,
    data,
    port,
    pki,
    user,
    password,
    pid: daemon.pid,
    log: daemon.log,
    /** Through TCP, with everything that the cluster demands. */
    url: (database) =>
      `postgres://${login}@localhost:${port}/${database}${pki ? `?${tlsParameters(pki)}` : ''}`,
    /** Through the unix socket. */
    socketUrl: (database) =>
      `postgres://${login}@${encodeURIComponent(directory)}:${port}/${database}`,
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** It accepts before it is ready; the eighth line of its file says which. */
async function untilReady(file) {
  const end = Date.now() + DEADLINE_MS;
  while (!/^ready/.test(readFileSync(file, 'utf8').split('\n')[7] ?? '')) {
    if (Date.now() > end) throw new Error('PostgreSQL does not get ready');
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

function hbaRules(tls, rules) {
  const method = 'scram-sha-256';
  const tcp = tls
    ? [`hostssl all all all ${method} clientcert=verify-full`, 'hostnossl all all all reject']
    : [`host all all all ${method}`];
  return [...rules, `local all all ${method}`, ...tcp, ''].join('\n');
}

function settings({ port, directory, pki }) {
  const lines = {
    listen_addresses: "'127.0.0.1, ::1'", // it goes on without an address that the machine has not
    port,
    unix_socket_directories: `'${directory}'`,
    max_connections: 300,
    fsync: 'off',
    timezone: "'Europe/Berlin'", // not UTC: whoever wants UTC has to ask for it
    password_encryption: "'scram-sha-256'",
    ...(pki
      ? {
          ssl: 'on',
          ssl_cert_file: `'${pki.serverCert}'`,
          ssl_key_file: `'${pki.serverKey}'`,
          ssl_ca_file: `'${pki.ca}'`,
        }
      : {}),
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** The parameters with which a client does all that such a cluster demands. */
function tlsParameters(pki) {
  const { ca, clientCert, clientKey } = pki;
  return `sslmode=verify-full&sslrootcert=${ca}&sslcert=${clientCert}&sslkey=${clientKey}`;
}

/** A CA, a server certificate for localhost, a client certificate of the user, and a second CA that nobody trusts. */
async function makePki(directory, user) {
  await mkdir(directory, { mode: 0o755 });
  const path = (name) => join(directory, name);
  const openssl = (...args) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  for (const name of ['ca', 'other-ca']) {
    const out = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
    openssl('req', '-x509', ...key, '-days', '30', '-subj', `/CN=${name}`, ...out);
  }
  const issue = async (name, subject, extensions) => {
    openssl('req', ...key, '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    await writeFile(path(`${name}.ext`), extensions);
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-days', '30', '-out', `${name}.crt`);
  };
  await issue('server', '/CN=localhost', 'subjectAltName=DNS:localhost\n');
  await issue('client', `/CN=${user.replaceAll('/', '\\/')}`, 'extendedKeyUsage=clientAuth\n');
  const { uid, gid } = unprivileged();
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, directory]);
  return {
    ca: path('ca.crt'),
    otherCa: path('other-ca.crt'),
    serverCert: path('server.crt'),
    serverKey: path('server.key'),
    clientCert: path('client.crt'),
    clientKey: path('client.key'),
  };
}
