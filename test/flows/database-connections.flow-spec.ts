import { afterAll, beforeAll, expect, it, describe } from '@jest/globals';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { DatabaseConnectionError, dataSourceOptions, directClient } from '#src/database/index.js';
import {
  startDebianPostgres,
  type ClusterPki,
  type DebianPostgres,
} from '../support/database/debian-postgres.mjs';
import { shippedUrls, staged } from '../support/database/shipped-urls.js';
import { freePorts } from '../support/ports.mjs';
import { describeWith, has } from '../support/missing.js';
import { postgresPrograms } from '../support/programs.mjs';
import { startServerProcess } from '../support/server-process.mjs';
import { support } from '../support/testbed.js';

const PASSWORD = `p@ss:w/o#r%d? &'ä"`;
/** In the database `gridgate` no client certificate is asked for, elsewhere it is. */
const RULES = ['hostssl gridgate all all scram-sha-256'];
const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((it) => it?.address === '::1');
const { root } = support();

let tls: DebianPostgres;
let plain: DebianPostgres;
let pki: ClusterPki;
let folder: string;

const need = {
  met: postgresPrograms() !== undefined && has('openssl'),
  name: 'PostgreSQL (package postgresql), openssl',
};

/** What a connection of the pool and one beside it see of themselves. */
async function connects(url: string): Promise<{ user: string; ssl: boolean; zone: string }> {
  const input = { poolSize: 2, statementTimeoutSeconds: 5, connectTimeoutSeconds: 3 };
  const options = { connection: () => ({ url }), ...input, entities: [], migrations: [] };
  const source = await new DataSource(dataSourceOptions(options)).initialize();
  const seen = `select current_user as user, ssl, current_setting('TimeZone') as zone
    from pg_stat_ssl where pid = pg_backend_pid()`;
  const [pooled] = await source.query(seen).finally(() => source.destroy());
  const client = directClient({ url }, 'test');
  await client.connect();
  const { rows } = await client.query(seen).finally(() => client.end());
  expect(rows[0]).toEqual(pooled);
  return pooled as { user: string; ssl: boolean; zone: string };
}

async function fault(url: string): Promise<DatabaseConnectionError> {
  const error = await directClient({ url }, 'test')
    .connect()
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  if (!(error instanceof DatabaseConnectionError)) throw new Error('it connects', { cause: error });
  return error;
}

describeWith(need)('a connection to PostgreSQL', () => {
  beforeAll(async () => {
    const login = { user: 'gridgate', password: PASSWORD };
    tls = await startDebianPostgres({ ...login, tls: true, rules: RULES });
    plain = await startDebianPostgres({ user: 'grid @:/', password: PASSWORD });
    pki = tls.pki as ClusterPki;
    const client = directClient({ url: tls.url('postgres') }, 'test');
    await client.connect();
    await client.query('create database gridgate').finally(() => client.end());
    folder = await mkdtemp(join(tmpdir(), 'grid-connections-'));
  });

  afterAll(async () => {
    await tls?.stop();
    await plain?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const login = (of: DebianPostgres): string =>
    `${encodeURIComponent(of.user)}:${encodeURIComponent(of.password)}`;
  /** A URL of the cluster with TLS; `cert` stands for the client's certificate and key. */
  const secure = (parameters: string, place = 'localhost', database = 'postgres'): string => {
    const files = parameters
      .replace('ca=right', `sslrootcert=${pki.ca}`)
      .replace('ca=other', `sslrootcert=${pki.otherCa}`)
      .replace(/\bcert$/, `sslcert=${pki.clientCert}&sslkey=${pki.clientKey}`);
    return `postgres://${login(tls)}@${place}:${tls.port}/${database}?${files}`;
  };

  describe('is made by password', () => {
    it.each([
      [
        'TLS with CA and client certificate',
        () => secure('sslmode=verify-full&ca=right&cert'),
        true,
      ],
      [
        'TLS with CA, under another name',
        () => secure('sslmode=verify-ca&ca=right&cert', '127.0.0.1'),
        true,
      ],
      [
        'TLS to IPv6, where there is any',
        () => secure('sslmode=verify-ca&ca=right&cert', HAS_IPV6 ? '[::1]' : '127.0.0.1'),
        true,
      ],
      ['TLS of anybody', () => secure('sslmode=require&cert', '127.0.0.1'), true],
      ['TLS where there is some', () => secure('sslmode=prefer&cert'), true],
      ['TLS where there is some, by default', () => secure('', 'localhost', 'gridgate'), true],
      ['no TLS where there is none', () => `${plain.url('postgres')}?sslmode=prefer`, false],
      ['no TLS', () => `${plain.url('postgres')}?sslmode=disable`, false],
      ['an encoded socket directory', () => plain.socketUrl('postgres'), false],
      [
        'a socket directory as parameter',
        () => `postgres://${login(plain)}@/postgres?host=${plain.directory}&port=${plain.port}`,
        false,
      ],
      [
        'parameters only',
        () =>
          `postgres:///?host=localhost&port=${plain.port}&dbname=postgres&user=${encodeURIComponent(plain.user)}&password=${encodeURIComponent(PASSWORD)}`,
        false,
      ],
    ])('with %s', async (_what, url, ssl) => {
      const user = ssl ? tls.user : plain.user;
      expect(await connects(url())).toEqual({ user, ssl, zone: 'UTC' });
    });

    it('with renewed files, without a new start', async () => {
      const copy = join(folder, 'ca.pem');
      const url = secure(`sslmode=verify-full&sslrootcert=${copy}&cert`);
      expect((await fault(url)).message).toBe(
        `DATABASE_URL: the file ${copy} of sslrootcert cannot be read (ENOENT)`,
      );
      await copyFile(pki.ca, copy);
      expect(await connects(url)).toMatchObject({ ssl: true });
    });

    it.each(shippedUrls(root).map(({ file, url }) => [file, url]))(
      'as %s has it: %s',
      async (_file, url) => {
        const { directory, port, password } = tls;
        const { ca, clientCert, clientKey } = pki;
        const stage = { directory, port, password, ca, clientCert, clientKey };
        const { user } = await connects(staged(url, stage));
        expect(user).toBe('gridgate');
      },
    );
  });

  describe('that cannot be made is explained', () => {
    it.each([
      [
        'a wrong password',
        () => plain.url('postgres').replace(/:[^:@]*@/, ':geheim@'),
        /^DATABASE_URL: password authentication failed for user "grid @:\/" \(localhost:\d+\)$/,
      ],
      [
        'an unknown user',
        () => plain.url('postgres').replace(/\/\/[^:]*:/, '//nobody:'),
        /^DATABASE_URL: password authentication failed for user "nobody" /,
      ],
      [
        'no password',
        () => `postgres://nobody@localhost:${plain.port}/postgres`,
        /^DATABASE_URL: the server demands a password and the URL has none /,
      ],
      [
        'an unknown database',
        () => plain.url('nix'),
        /^DATABASE_URL: database "nix" does not exist /,
      ],
      [
        'a server without TLS',
        () => `${plain.url('postgres')}?sslmode=require`,
        /^DATABASE_URL: the server offers no TLS, which sslmode=require demands /,
      ],
      [
        'no TLS where it is demanded',
        () => secure('sslmode=disable'),
        /^DATABASE_URL: (no pg_hba.conf entry|pg_hba.conf rejects connection) for host .*no encryption/,
      ],
      [
        'another CA',
        () => secure('sslmode=verify-full&ca=other&cert'),
        /^DATABASE_URL: the server's certificate is not from a CA of .*\/other-ca.crt \(localhost:\d+\)$/,
      ],
      [
        'another CA, whatever the name',
        () => secure('sslmode=verify-ca&ca=other&cert'),
        /^DATABASE_URL: the server's certificate is not from a CA of /,
      ],
      [
        'a private CA that is not named',
        () => secure('sslmode=verify-full&cert'),
        /^DATABASE_URL: the server's certificate is not from a CA of the runtime; name its CA by sslrootcert /,
      ],
      [
        'another host name',
        () => secure('sslmode=verify-full&ca=right&cert', '127.0.0.1'),
        /^DATABASE_URL: the server's certificate is not for the host 127.0.0.1: /,
      ],
      [
        'no client certificate',
        () => secure('sslmode=verify-full&ca=right'),
        /^DATABASE_URL: connection requires a valid client certificate /,
      ],
      [
        'a file that is no certificate',
        () =>
          secure(
            `sslmode=verify-full&ca=right&sslcert=${root}/package.json&sslkey=${root}/package.json`,
          ),
        /^DATABASE_URL: TLS fails: .*PEM/,
      ],
      [
        'a file that is not there',
        () => secure('sslmode=verify-full&ca=right&sslcert=/nix/a.pem&sslkey=/nix/a.key'),
        /^DATABASE_URL: the file \/nix\/a.pem of sslcert cannot be read \(ENOENT\)$/,
      ],
    ])('at once: %s', async (_what, url, message) => {
      const error = await fault(url());
      expect(error.message).toMatch(message);
      expect(error.isFinal).toBe(true);
      expect(`${error.stack} ${String(error.cause)}`).not.toMatch(/geheim|p@ss|p%40ss/);
    });

    it('and waited for: nothing listens, no socket, an unknown host', async () => {
      const [port = 0] = await freePorts(1);
      const errors = [
        await fault(`postgres://a:geheim@127.0.0.1:${port}/x`),
        await fault(`postgres://a:geheim@/x?host=${folder}`),
        await fault('postgres://a:geheim@db.invalid/x'),
      ];
      expect(errors.map(({ isFinal }) => isFinal)).toEqual([false, false, false]);
      expect(errors.map(({ message }) => message)).toEqual([
        `DATABASE_URL: nothing listens there (127.0.0.1:${port})`,
        `DATABASE_URL: there is no socket (${folder}/.s.PGSQL.5432)`,
        'DATABASE_URL: the host db.invalid is not known (db.invalid:5432)',
      ]);
    });
  });

  describe('of a process', () => {
    const wrong = (): Record<string, string> => ({
      DATABASE_URL: plain.url('postgres').replace(/:[^:@]*@/, ':geheim@'),
      GRID_HOME: join(folder, 'home'),
      GRID_PORT: '0',
    });
    const REFUSAL = 'DATABASE_URL: password authentication failed for user "grid @:/"';

    it('refuses the start with a line that names variable and fault, and no password', async () => {
      const started = startServerProcess({ root, env: { ...wrong(), GRID_LOG_LEVEL: 'debug' } });
      const message = await started.then(
        () => 'it has started',
        (error: unknown) => (error as Error).message,
      );
      expect(message).toContain('ended with 1');
      expect(message).toContain(`gridgate: ${REFUSAL}`);
      expect(message).not.toContain('geheim');
    });

    it.each([
      ['the command', ['bin/gridgate.mjs', 'migrate']],
      [
        'the TypeORM command line',
        ['node_modules/typeorm/cli.js', 'migration:show', '-d', 'dist/ormconfig.js'],
      ],
    ])('is explained by %s', async (_what, words) => {
      const ended = await new Promise<string>((resolve) =>
        execFile(
          process.execPath,
          words,
          { cwd: root, env: { PATH: process.env['PATH'], HOME: folder, ...wrong() } },
          (_error, stdout, stderr) => resolve(stdout + stderr),
        ),
      );
      expect(ended).toContain(REFUSAL);
      expect(ended).not.toContain('geheim');
    });

    it('serves and migrates with TLS and a client certificate', async () => {
      const env = {
        DATABASE_URL: tls.url('postgres'),
        GRID_HOME: join(folder, 'serving'),
        GRID_PORT: '0',
        GRID_ROLE: 'api',
      };
      const server = await startServerProcess({ root, env });
      await server.stop();
      expect(server.log()).not.toMatch(/p@ss|p%40ss/);
    });
  });
});
