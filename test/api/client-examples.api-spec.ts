import { execFile, spawn } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OAuth2IdProvider, type BrowserSession } from '#src/id-provider/library.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import { freePorts } from '../support/ports.mjs';
import { blocksOf, faultsOf } from '../support/documentation.js';
import { browse, CALLBACK, startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { eventually, support } from '../support/testbed.js';

const PAGE = 'docs/client.md';
const EXAMPLES = [
  'code-flow.mjs',
  'device-flow.mjs',
  'client-credentials.mjs',
  'stored-token.mjs',
  'token-exchange.mjs',
  'mutual-tls.mjs',
  'client-authentication.mjs',
];

let pki: TestPki;
let idp: TestIdProvider;
let folder: string;
let port: number;
let terminal: Promise<string>;

function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    ISSUER: idp.issuer,
    TOKEN_ENDPOINT: `${idp.issuer}/token`,
    API_URL: `${idp.issuer}/.well-known/openid-configuration`,
    REQUESTS_CA_BUNDLE: pki.ca.certPath,
    ...env,
  };
}

/** Runs an example to its end and answers what it has printed. */
function run(name: string, env: Record<string, string>): Promise<string> {
  const options = { cwd: folder, env: environment(env), timeout: 40_000 };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [name], options, (error, stdout, stderr) => {
      if (error || stderr !== '') reject(new Error(`${name}: ${error?.message ?? ''} ${stderr}`));
      else resolve(stdout);
    });
  });
}

/** Runs an example that waits for a person, and is that person. */
async function attend(
  name: string,
  env: Record<string, string>,
  person: (printed: () => string) => Promise<void>,
): Promise<string> {
  const child = spawn(process.execPath, [name], { cwd: folder, env: environment(env) });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const closed = once(child, 'close');
  try {
    await person(() => printed);
  } catch (error) {
    child.kill();
    throw error;
  }
  await closed;
  return printed;
}

/** A token of the provider for jane, got through the code flow. */
async function tokenOf(clientId: string, secret?: string): Promise<TokenFields> {
  const client = new OAuth2IdProvider({
    issuer: idp.issuer,
    client_id: clientId,
    ...(secret !== undefined && { client_secret: secret }),
    redirect_uri: CALLBACK,
    scope: 'openid profile offline_access',
    verify: pki.ca.certPath,
    trust_env: false,
  });
  try {
    const begun = await client.submitNewSession();
    if (!begun.OK) throw new Error(begun.Message);
    const state = new URL(begun.Value).searchParams.get('state') ?? '';
    const { location } = await browse(pki.ca.certPath, begun.Value);
    const session: BrowserSession = { state };
    const done = await client.parseAuthResponse({ uri: location ?? '' }, session);
    if (!done.OK) throw new Error(done.Message);
    return { ...session.token };
  } finally {
    await client.close();
  }
}

beforeAll(async () => {
  pki = await createTestPki();
  [port = 0] = await freePorts(1);
  folder = await mkdtemp(join(tmpdir(), 'grid-examples-'));
  const own = await pki.client('machine');
  const machine = { redirect_uris: [], grant_types: ['client_credentials'], response_types: [] };
  const jwk = createPublicKey(own.key).export({ format: 'jwk' });
  idp = await startIdProvider(pki, {
    redirectUris: [CALLBACK, `https://localhost:${port}/callback`],
    clients: [
      {
        ...machine,
        client_id: 'jwt-mtls',
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_subject_dn: 'CN=machine',
        tls_client_certificate_bound_access_tokens: true,
      },
      {
        ...machine,
        client_id: 'key-jwt',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...jwk, kid: '2026-1', use: 'sig', alg: 'ES256' }] },
      },
    ],
  });
  await copyFile(pki.server.certPath, join(folder, 'server.crt'));
  await copyFile(pki.server.keyPath, join(folder, 'server.key'));
  await copyFile(own.certPath, join(folder, 'client.crt'));
  await copyFile(own.keyPath, join(folder, 'client.key'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(support().root, join(folder, 'node_modules/gridgate'));
  for (const { mark, text } of blocksOf(PAGE)) {
    if (mark?.kind === 'file') await writeFile(join(folder, mark.words), text);
  }
  terminal = signInAtTerminal();
  terminal.catch(() => undefined); // its test sees the same error
});

/** The device flow polls after five seconds; other examples run meanwhile. */
function signInAtTerminal(): Promise<string> {
  return attend('device-flow.mjs', { CLIENT_ID: 'pub' }, async (soFar) => {
    const address = await eventually(
      () => Promise.resolve(/Open (https:\S+)/.exec(soFar())?.[1]),
      'the example says where to go',
    );
    await browse(pki.ca.certPath, address);
  });
}

afterAll(async () => {
  await idp?.stop();
  await pki?.remove();
  await rm(folder, { recursive: true, force: true });
});

describe('the examples of docs/client.md', () => {
  it('are all run here', () => {
    const blocks = blocksOf(PAGE);
    expect(faultsOf(blocks)).toEqual([]);
    const files = blocks.filter(({ mark }) => mark?.kind === 'file').map(({ mark }) => mark?.words);
    expect(files).toEqual(EXAMPLES);
  });

  it('sign a person in at a web application', async () => {
    const env = {
      CLIENT_ID: 'conf',
      CLIENT_SECRET: 'secret of conf: 100% & more',
      PORT: String(port),
    };
    const child = spawn(process.execPath, ['code-flow.mjs'], {
      cwd: folder,
      env: environment(env),
      stdio: 'ignore',
    });
    try {
      const address = `https://localhost:${port}/`;
      const visited = await eventually(
        () => browse(pki.ca.certPath, address, { redirectUri: 'none:' }).catch(() => undefined),
        'the application answers',
      );
      expect(visited.page).toBe('jane is in no groups');
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  it('sign a person in at a terminal', async () => {
    expect(await terminal).toMatch(/^Open https:\S+ \(code \S+\)\nhello jane\n$/);
  });

  it('call with client credentials', async () => {
    const env = { CLIENT_ID: 'jwt-conf', CLIENT_SECRET: 'secret-of-jwt-conf' };
    expect(await run('client-credentials.mjs', env)).toMatch(/^200 \{"/);
  });

  it('renew a stored token and store it again', async () => {
    const token = await tokenOf('pub');
    const file = join(folder, 'token.json');
    await writeFile(file, JSON.stringify({ ...token, expires_at: 1 }));
    expect(await run('stored-token.mjs', { CLIENT_ID: 'pub' })).toBe('200\n');
    const stored = JSON.parse(await readFile(file, 'utf8')) as TokenFields;
    expect(stored.access_token).not.toBe(token.access_token);
    expect(stored.refresh_token).not.toBe(token.refresh_token);
  });

  it('exchange a token', async () => {
    const secret = 'secret of conf: 100% & more';
    const { access_token: token } = await tokenOf('conf', secret);
    const env = { CLIENT_ID: 'conf', CLIENT_SECRET: secret, ACCESS_TOKEN: String(token) };
    const [scope, type] = (await run('token-exchange.mjs', env)).split('\n');
    expect(scope?.split(' ')).toEqual(
      expect.arrayContaining(['wlcg.groups:/biomed/user', 'storage.read:/']),
    );
    expect(type).toBe('urn:ietf:params:oauth:token-type:access_token');
  });

  it('authenticate with a certificate', async () => {
    const printed = await run('mutual-tls.mjs', { CLIENT_ID: 'jwt-mtls' });
    expect(printed).toBe('bound to our certificate\n');
  });

  it('authenticate with a signed assertion', async () => {
    expect(await run('client-authentication.mjs', { CLIENT_ID: 'key-jwt' })).toBe('Bearer\n');
  });
});
