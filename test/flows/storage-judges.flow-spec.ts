import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { issueCertificate } from '../../src/x509/issuing/certificate-issuer.js';
import { bulk } from '../support/catalogue/events.js';
import { narrow, registerMovers, STORAGE, tokenOf } from '../support/grid-tokens.js';
import { blocksOf, faultsOf, isShown } from '../support/documentation.js';
import { CommandUser } from '../support/command.js';
import { describeOn, describeWith } from '../support/missing.js';
import { runPage } from '../support/page-shell.js';
import {
  namespaces,
  packages,
  PAGE,
  said,
  sciTokens,
  XrootdStorage,
  xrootdVersion,
  type Said,
} from '../support/storage/xrootd-storage.js';
import { eventually, startGrid, support, type Grid } from '../support/testbed.js';

const ENCRYPTION_KEY = randomBytes(32).toString('base64');
const ANY = 'https://wlcg.cern.ch/jwt/v1/any';
/** From here on xrootd compares paths by whole names; before, by letters. */
const WHOLE_NAMES = 50_609;

const hasPackages = describeWith(packages);
const withJudges = hasPackages === describe ? describeOn(namespaces) : hasPackages;

withJudges('storage services judge our tokens', () => {
  let grid: Grid;
  let storage: XrootdStorage;
  /** Another issuer. */
  let other: Grid;
  let directory: string;
  let wrong: [string, string][];
  beforeAll(async () => {
    const GRID_STORAGE_CA = join(support().pki, 'ca.crt');
    grid = await startGrid({ env: { GRID_KEY_ENCRYPTION_KEY: ENCRYPTION_KEY, GRID_STORAGE_CA } });
    // It runs no jobs: the storage would refuse their tokens, too.
    other = await grid.second({ GRID_ROLE: 'api' });
    await registerMovers(grid);
    const fred = await grid.as('fred');
    for (const path of ['/vo/foo', '/vo/foobar', '/vo/other']) {
      const name = Buffer.from(path).toString('base64url');
      const { status } = await fred.post(`/filecatalogue/directory/${name}`, {
        json: { Mode: 0o777 },
      });
      if (status !== 201) throw new Error(`${path}: ${status}`);
    }
    directory = await mkdtemp(join(tmpdir(), 'grid-judges-'));
    storage = await XrootdStorage.start(grid.url, STORAGE, join(grid.home, 'pki'));
    for (const name of ['foo', 'foobar', 'other']) {
      await mkdir(join(storage.root, 'vo', name), { recursive: true });
      await writeFile(join(storage.root, 'vo', name, 'a'), `a of ${name}\n`);
    }
    await grid.sql(
      `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}', audience = $2
       where name = 'SE-A'`,
      [`${storage.url}/vo`, STORAGE],
    );
    await writeFile(join(storage.root, 'vo/foo/b ü+%'), 'b of foo\n');
    const paths = ['/vo/foo/a', '/vo/foo/b ü+%'];
    await bulk(
      await grid.as('alice'),
      ...paths.map((path) => ({ kind: 'file', path, size: 9, replicas: [{ se: 'SE-A' }] })),
    );
    wrong = await bad();
  });
  afterAll(async () => {
    await storage?.remove();
    await other?.remove();
    await grid?.remove();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  const forStorage = (scope: string): Promise<string> =>
    tokenOf(grid, scope, { audience: STORAGE });

  /** A token that ended: its holder's certificate did. */
  async function ended(): Promise<string> {
    const [certificatePem, keyPem] = await Promise.all(
      ['ca.crt', 'ca.key'].map((name) => readFile(join(grid.home, 'pki', name), 'utf8')),
    );
    const alice = await issueCertificate({
      subject: '/DC=org/DC=grid/CN=alice',
      purpose: 'client',
      issuer: { certificatePem: certificatePem ?? '', keyPem: keyPem ?? '' },
      notAfter: new Date(Date.now() + 4_000),
    });
    const client = await grid.certificate({ cert: alice.certificatePem, key: alice.keyPem });
    const { body } = await client.post('/oauth2/token', {
      form: {
        ...{ grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' },
        ...{ scope: 'storage.read:/vo/foo', audience: STORAGE },
      },
    });
    const { exp = 0 } = decodeJwt(body.access_token);
    await eventually(() => Promise.resolve(Date.now() > (exp + 1) * 1000), 'the end of the token');
    return body.access_token;
  }

  /** What somebody else makes of a good token: the same claims and key id, another signature. */
  async function forged(token: string): Promise<string> {
    const { privateKey } = await generateKeyPair('ES256');
    const { kid = '' } = decodeProtectedHeader(token);
    return new SignJWT(decodeJwt(token))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .sign(privateKey);
  }

  /** Tokens that no storage may take, by what is wrong with them. */
  async function bad(): Promise<[string, string][]> {
    const good = await forStorage('storage.read:/vo/foo');
    return [
      ['without an audience', await tokenOf(grid, 'storage.read:/vo/foo')],
      [
        'for another service',
        await tokenOf(grid, 'storage.read:/vo/foo', { audience: `${STORAGE}.org` }),
      ],
      ['ended', await ended()],
      ["another issuer's", await tokenOf(other, 'storage.read:/vo/foo', { audience: STORAGE })],
      ['signed by another key', await forged(good)],
      ['not signed', new UnsecuredJWT(decodeJwt(good)).encode()],
    ];
  }

  it('are found by doctor to open by letters, and to be refused for another issuer', async () => {
    const findings = async (GRID_PUBLIC_URL: string): Promise<unknown> => {
      const { stdout } = await new CommandUser(directory).run(['doctor', '--json'], {
        ...{ GRID_HOME: grid.home, DATABASE_URL: grid.database.url, GRID_PUBLIC_URL },
        ...{ GRID_KEY_ENCRYPTION_KEY: ENCRYPTION_KEY },
        GRID_STORAGE_CA: join(support().pki, 'ca.crt'),
      });
      const all = JSON.parse(stdout).findings as { check: string }[];
      return all.filter(({ check }) => check === 'storage elements');
    };
    const isExact = xrootdVersion() >= WHOLE_NAMES;
    const text = isExact
      ? 'SE-A knows tokens of this service, and each opens its own path alone'
      : 'at SE-A a token for one file opens all whose names begin with its name';
    expect(await findings(grid.url)).toMatchObject([{ state: isExact ? 'ok' : 'warning', text }]);
    expect(await findings(other.url)).toMatchObject([{ state: 'fault', text: 'SE-A answers 403' }]);
  });

  describe('scitokens-cpp', () => {
    const tool = (...words: [string, ...string[]]): Promise<Said> => {
      const ca = join(grid.home, 'pki', 'ca.crt');
      return sciTokens({ ca, cache: directory }, ...words);
    };
    const access = (token: string, audience = STORAGE): Promise<Said> =>
      tool('scitokens-list-access', token, grid.url, audience);

    it.each(['wlcg', 'atjwt'])('verifies them by our discovery, as %s', async (profile) => {
      const token = await forStorage('storage.read:/vo/foo');
      expect(await tool('scitokens-verify', '-p', profile, token)).toEqual({
        status: 0,
        text: 'Token deserialization successful.\n',
      });
    });

    it('reads in them what they allow and nothing else', async () => {
      const token = await forStorage(
        'storage.read:/vo/foo/ storage.create:/vo/foo storage.modify:/vo/other/new compute.read wlcg.groups',
      );
      const { status, text } = await access(token);
      // Other scopes than those of storage are rights without a path to it.
      expect([status, text.match(/(?<=^ACL: ).*:\/vo.*/gm)?.sort()]).toEqual([
        0,
        [
          ...['create:/vo/foo', 'modify:/vo/other/new', 'read:/vo/foo'],
          ...['write:/vo/foo', 'write:/vo/other/new'],
        ],
      ]);
    });

    it('refuses the bad ones', async () => {
      const why: Record<string, RegExp> = {
        'without an audience': /'aud' claim verification failed/,
        'for another service': /'aud' claim verification failed/,
        ended: /token expired/,
        "another issuer's": /Token issuer is not in list of allowed issuers/,
        'signed by another key': /Invalid signature/,
        'not signed': /Key ID empty/,
      };
      for (const [name, token] of wrong) {
        const { status, text } = await access(token);
        expect([name, status]).toEqual([name, 1]);
        expect(text).toMatch(why[name] ?? /^$/);
      }
    });
  });

  describe('xrootd', () => {
    async function tried(token: string | undefined, method: string, path: string, to?: string) {
      const headers = to === undefined ? [] : [`Destination: ${storage.url}${to}`];
      const body = method === 'PUT' ? { body: 'new' } : {};
      const { status } = await storage.call(method, path, { token, headers, ...body });
      return status;
    }

    it('opens to reading exactly the path that was asked for', async () => {
      const token = await forStorage('storage.read:/vo/foo');
      expect(await storage.call('GET', '/vo/foo/a', { token })).toEqual({
        status: 200,
        text: 'a of foo\n',
      });
      for (const path of ['/vo/other/a', '/vo/foo/../other/a', '/vo', '/']) {
        expect([path, await tried(token, 'GET', path)]).toEqual([path, 403]);
      }
      expect(await tried(undefined, 'GET', '/vo/foo/a')).toBe(403);
      expect(await tried(token, 'PUT', '/vo/foo/b')).toBe(403);
      expect(await tried(token, 'PUT', '/vo/foo/a')).toBe(403);
    });

    it('creates with storage.create, and changes nothing', async () => {
      const token = await forStorage('storage.create:/vo/foo');
      expect(await tried(token, 'PUT', '/vo/foo/made')).toBe(200);
      expect(await readFile(join(storage.root, 'vo/foo/made'), 'utf8')).toBe('new');
      for (const [method, path] of [
        ['PUT', '/vo/foo/a'],
        ['GET', '/vo/foo/a'],
        ['DELETE', '/vo/foo/a'],
        ['PUT', '/vo/other/made'],
      ] as const) {
        expect([method, path, await tried(token, method, path)]).toEqual([method, path, 403]);
      }
      expect(await readFile(join(storage.root, 'vo/foo/a'), 'utf8')).toBe('a of foo\n');
    });

    it('opens nothing of run 123 to run 12, whose directory has as many digits', async () => {
      const own = '/vo/foo/000000000012';
      const token = await forStorage(`storage.create:${own} storage.read:${own}`);
      expect(await tried(token, 'PUT', `${own}/f`)).toBe(200);
      expect(await tried(token, 'GET', `${own}/f`)).toBe(200);
      const others = '/vo/foo/000000000123';
      expect(await tried(await forStorage(`storage.create:${others}`), 'PUT', `${others}/f`)).toBe(
        200,
      );
      for (const [method, path] of [
        ['PUT', `${others}/g`],
        ['GET', `${others}/f`],
        ['DELETE', `${others}/f`],
        ['GET', `${own}/../000000000123/f`],
      ] as const)
        expect([method, path, await tried(token, method, path)]).toEqual([method, path, 403]);
    });

    it('changes, moves and deletes with storage.modify', async () => {
      const token = await forStorage('storage.read:/vo/foo storage.modify:/vo/foo');
      expect(await tried(token, 'PUT', '/vo/foo/mine')).toBe(200);
      expect(await tried(token, 'PUT', '/vo/foo/mine')).toBe(200);
      expect(await tried(token, 'MOVE', '/vo/foo/mine', '/vo/foo/moved')).toBe(201);
      expect(await tried(token, 'GET', '/vo/foo/moved')).toBe(200);
      expect(await tried(token, 'MOVE', '/vo/foo/moved', '/vo/other/moved')).toBe(403);
      expect(await tried(token, 'DELETE', '/vo/foo/moved')).toBe(200);
      expect(await tried(token, 'DELETE', '/vo/other/a')).toBe(403);
    });

    it('takes a narrower token that an application has exchanged, and tokens for several or all services', async () => {
      const wide = await tokenOf(grid, 'storage.read:/vo/foo storage.modify:/vo/foo', {
        audience: ANY,
      });
      expect(await tried(wide, 'PUT', '/vo/foo/wide')).toBe(200);
      const { body } = await narrow(grid, wide, {
        scope: 'storage.read:/vo/foo/wide',
        audience: STORAGE,
      });
      expect(await tried(body.access_token, 'GET', '/vo/foo/wide')).toBe(200);
      expect(await tried(body.access_token, 'GET', '/vo/foo/a')).toBe(403);
      expect(await tried(body.access_token, 'PUT', '/vo/foo/wide')).toBe(403);
      const two = await narrow(
        grid,
        wide,
        { resource: STORAGE, audience: 'https://b.example' },
        'twin',
      );
      expect(decodeJwt(two.body.access_token).aud).toEqual(['https://b.example', STORAGE]);
      expect(await tried(two.body.access_token, 'GET', '/vo/foo/a')).toBe(200);
    });

    it('refuses the bad ones', async () => {
      for (const [name, token] of wrong) {
        expect([name, await tried(token, 'GET', '/vo/foo/a')]).toEqual([name, 403]);
      }
    });

    it('takes the tokens of the next key, which it has seen among our keys', async () => {
      const before = decodeProtectedHeader(await forStorage('storage.read:/vo/foo'));
      // as if the next key had been published for long enough
      await grid.sql("update signing_key set created_at = now() - interval '1 hour'");
      const env = {
        ...{ GRID_HOME: grid.home, DATABASE_URL: grid.database.url, GRID_PUBLIC_URL: grid.url },
        GRID_KEY_ENCRYPTION_KEY: ENCRYPTION_KEY,
      };
      const cli = join(support().root, 'dist/src/cli/main.js');
      expect((await said(process.execPath, [cli, 'keys', 'rotate'], env)).status).toBe(0);
      const token = await eventually(async () => {
        const one = await forStorage('storage.read:/vo/foo');
        return decodeProtectedHeader(one).kid !== before.kid && one;
      }, 'a token of the next key');
      expect(await tried(token, 'GET', '/vo/foo/a')).toBe(200);
    });

    it('is read and written by xrdcp, which finds the token in a file', async () => {
      const token = await forStorage('storage.read:/vo/foo storage.create:/vo/foo/copied');
      const file = join(directory, 'token');
      await writeFile(file, token, { mode: 0o600 });
      const env = { BEARER_TOKEN_FILE: file, X509_CERT_DIR: storage.certificates, HOME: directory };
      const copy = (...words: string[]): Promise<Said> =>
        said('xrdcp', ['--silent', '--nopbar', ...words], env);
      const url = `roots://localhost:${storage.port}//vo`;
      expect(await copy(`${url}/foo/a`, join(directory, 'copy'))).toEqual({ status: 0, text: '' });
      expect(await readFile(join(directory, 'copy'), 'utf8')).toBe('a of foo\n');
      expect(await copy(join(directory, 'copy'), `${url}/foo/copied`)).toEqual({
        status: 0,
        text: '',
      });
      expect(await readFile(join(storage.root, 'vo/foo/copied'), 'utf8')).toBe('a of foo\n');
      const refused = await copy(`${url}/other/a`, join(directory, 'other'));
      expect(refused.text).toMatch(/permission denied/i);
      expect(refused.status).not.toBe(0);
    });

    it('opens the file whose address and token the catalogue has given, and nothing else', async () => {
      const alice = await grid.as('alice');
      const given = async (path: string): Promise<any> => {
        const json = { paths: [path], right: 'read' };
        return (await alice.post('/filecatalogue/access', { json })).body[0];
      };
      const file = await given('/vo/foo/a');
      expect(file.url).toBe(`${storage.url}/vo/foo/a`);
      const [, token = ''] = file.headers.Authorization.split('Bearer ');
      const get = await storage.call('GET', new URL(file.url).pathname, { token });
      expect(get).toEqual({ status: 200, text: 'a of foo\n' });
      for (const path of ['/vo/foo/', '/vo/other/a', '/vo/foobar/a']) {
        expect([path, await tried(token, 'GET', path)]).toEqual([path, 403]);
      }
      const other = await given('/vo/foo/b ü+%');
      const { pathname } = new URL(other.url);
      const [, wider = ''] = other.headers.Authorization.split('Bearer ');
      expect(await storage.call('GET', pathname, { token: wider })).toEqual({
        ...{ status: 200, text: 'b of foo\n' },
      });
      for (const method of ['PUT', 'DELETE'])
        expect(await tried(token, method, '/vo/foo/a')).toBe(403);
    });

    it('is set up and used as its page says', async () => {
      const blocks = blocksOf(PAGE);
      expect(faultsOf(blocks)).toEqual([]);
      const { complaint, outputs } = await runPage(blocks, {
        ...{ gridHome: grid.home, port: Number(new URL(grid.url).port) },
        env: {
          ...{ GRID: grid.url, STORAGE: `localhost:${storage.port}`, AUDIENCE: STORAGE },
          X509_CERT_DIR: storage.certificates,
        },
      });
      expect(complaint).toBeUndefined();
      for (const [index, { mark, text }] of blocks.entries()) {
        if (mark?.kind !== 'output') continue;
        const told = outputs.get(blocks[index - 1]?.line ?? 0) ?? '';
        expect(isShown(text, told, true) ? text : told).toBe(text);
      }
      expect(await readFile(join(storage.root, 'vo/foo/new'), 'utf8')).toBe('a of foo\n');
    });

    const byNames = describeOn({
      met: xrootdVersion() >= WHOLE_NAMES,
      name: 'xrootd from 5.6.9, to which /foobar is not below /foo',
    });
    byNames('by whole names', () => {
      it('keeps a neighbour closed whose name only begins alike', async () => {
        const token = await forStorage('storage.read:/vo/foo');
        expect(await tried(token, 'GET', '/vo/foobar/a')).toBe(403);
      });
    });
  });
});
