/**
 * A peer of the figures of tokens: Keycloak as it is meant for production (`build`, then `start --optimized`), its store in a
 * file, one confidential client and one user, ES256, refresh tokens that rotate.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from './processes.mjs';
import { selfSigned } from './self-signed.mjs';

/** Where the distribution is looked for: keycloak-quarkus-dist of the Maven registry, as it comes. */
const CACHE = join(homedir(), '.cache/gridgate-bench');
const READY = /Listening on: https:\/\/\S+/;
const START_MS = 180_000;

const REALM = {
  realm: 'bench',
  enabled: true,
  sslRequired: 'none',
  defaultSignatureAlgorithm: 'ES256',
  revokeRefreshToken: true,
  refreshTokenMaxReuse: 0,
  // Only signing in would be slow, and that is not measured.
  passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
  clients: [
    {
      clientId: 'bench',
      secret: 'bench-secret',
      enabled: true,
      publicClient: false,
      serviceAccountsEnabled: true,
      directAccessGrantsEnabled: true,
      standardFlowEnabled: false,
      attributes: { 'access.token.signed.response.alg': 'ES256' },
    },
  ],
  users: [
    {
      username: 'alice',
      enabled: true,
      email: 'alice@example.org',
      emailVerified: true,
      firstName: 'Alice',
      lastName: 'Example',
      credentials: [{ type: 'password', value: 'alice' }],
    },
  ],
};

/** What is missing to run Keycloak here, for people; undefined when it can be run. */
export async function keycloakIsMissing() {
  if (archive() === undefined) {
    return `there is no keycloak-quarkus-dist-*.zip in ${CACHE}`;
  }
  for (const program of ['java', 'unzip']) {
    const found = (process.env.PATH ?? '').split(':').some((at) => existsSync(join(at, program)));
    if (!found) return `${program} is not installed`;
  }
  return undefined;
}

function archive() {
  if (!existsSync(CACHE)) return undefined;
  const all = readdirSync(CACHE).filter((name) => /^keycloak-quarkus-dist-.*\.zip$/.test(name));
  return all.sort().at(-1);
}

/** Starts it; answers `{url, ca, path, stop}`, `path` of its endpoints. */
export async function startKeycloak(bench) {
  const home = await bench.directory();
  await runToEnd('unzip', ['-q', join(CACHE, archive()), '-d', home]);
  const place = join(home, readdirSync(home)[0]);
  const pair = await selfSigned();
  const port = await freePort();
  await mkdir(join(place, 'data/import'), { recursive: true });
  await writeFile(join(place, 'data/import/bench.json'), JSON.stringify(REALM));
  await writeFile(join(home, 'tls.crt'), pair.cert);
  await writeFile(join(home, 'tls.key'), pair.key, { mode: 0o600 });
  const program = join(place, 'bin/kc.sh');
  await runToEnd(program, ['build', '--db=dev-file'], { env: process.env });
  const words = ['start', '--optimized', '--import-realm', `--hostname=https://localhost:${port}`];
  const net = ['--http-host=127.0.0.1', `--https-port=${port}`, '--cache=local'];
  const tls = ['crt', 'key'].map(
    (kind) =>
      `--https-certificate-${kind === 'crt' ? '' : 'key-'}file=${join(home, `tls.${kind}`)}`,
  );
  const stop = await untilReady(program, [...words, ...net, ...tls]);
  bench.opened.push(stop);
  const url = `https://localhost:${port}`;
  return { url, ca: pair.cert, path: '/realms/bench/protocol/openid-connect', stop };
}

function untilReady(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGTERM'); // the script and Java
    await ended;
  };
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => {
      void stop();
      reject(new Error(`Keycloak was not ready in ${START_MS / 1000} s: ${said.slice(-2_000)}`));
    }, START_MS);
    const hear = (text) => {
      said = (said + text).slice(-20_000);
      if (!READY.test(said)) return;
      clearTimeout(late);
      resolve(stop);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
    child.once('error', reject);
    ended.then((code) => {
      clearTimeout(late);
      reject(new Error(`Keycloak ended with ${code}: ${said.slice(-2_000)}`));
    });
  });
}

function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
