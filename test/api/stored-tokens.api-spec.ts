import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  IdProviderModule,
  IdProvidersService,
  StoredTokens,
  type BrowserSession,
} from '#src/id-provider/index.js';
import { InfrastructureModule } from '../../src/app/infrastructure.module.js';
import { readConfig } from '#src/config/index.js';
import { createLogger, Metrics } from '#src/runtime/index.js';
import { TrustedAuthorities } from '#src/x509/index.js';
import { RegistryModule } from '#src/registry/index.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import { createRuntime, type Runtime } from '../../src/app/runtime.js';
import { browse, startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

const PUBLIC_URL = 'https://grid.example';
const REDIRECT = `${PUBLIC_URL}/oauth2/callback/Institute`;
const JANE = { provider: 'Institute', owner: 'jane' };

/** What one instance of the service has of this room. */
interface Instance {
  runtime: Runtime;
  context: INestApplicationContext;
  tokens: StoredTokens;
  close(): Promise<void>;
}

describe('StoredTokens', () => {
  let directory: string;
  let pki: TestPki;
  let idp: TestIdProvider;
  let scratch: ScratchDatabase;
  let silent: Server;
  let one: Instance;
  let two: Instance;

  async function instance(): Promise<Instance> {
    const config = readConfig({
      GRID_HOME: directory,
      GRID_PUBLIC_URL: PUBLIC_URL,
      DATABASE_URL: scratch.url,
      GRID_ID_PROVIDERS: join(directory, 'providers.yaml'),
      GRID_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    const runtime = createRuntime(config, () => ({ url: scratch.url }), {
      logger: createLogger('silent'),
    });
    await runtime.connect(new AbortController().signal);
    const authorities = await TrustedAuthorities.open({ paths: [] });
    @Module({
      imports: [
        InfrastructureModule.forRoot({ ...runtime, metrics: new Metrics(), authorities }),
        RegistryModule,
        IdProviderModule,
      ],
    })
    class InstanceModule {}
    const options = { logger: false, abortOnError: false } as const;
    const context = await NestFactory.createApplicationContext(InstanceModule, options);
    const close = async (): Promise<void> => {
      await context.close();
      authorities.close();
      await runtime.close();
    };
    return { runtime, context, tokens: context.get(StoredTokens, { strict: false }), close };
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-stored-'));
    pki = await createTestPki();
    idp = await startIdProvider(pki, { redirectUris: [REDIRECT] });
    scratch = await scratchDatabase();
    silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const silentUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = { client_id: 'conf', client_secret: 'secret of conf: 100% & more' };
    const common = { ...client, verify: pki.ca.certPath, trust_env: false };
    const providers = {
      Institute: { issuer: idp.issuer, ...common, scope: 'openid profile' },
      Away: { issuer: 'https://127.0.0.1:9', ...common },
      // Nothing but the end of the provider ends the waiting.
      Silent: { ...common, issuer: silentUrl, default_timeout: 300 },
    };
    await writeFile(join(directory, 'providers.yaml'), JSON.stringify(providers));
    [one, two] = [await instance(), await instance()];
  });
  afterAll(async () => {
    await one?.close();
    await two?.close();
    silent?.close();
    await scratch?.remove();
    await idp?.stop();
    await pki?.remove();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await one.runtime.database.execute({ text: 'truncate stored_token' });
  });

  /** The token of a login of jane's at the provider. */
  async function login(): Promise<TokenFields> {
    const provider = one.context
      .get(IdProvidersService, { strict: false })
      .find('Institute')!.provider;
    const begun = await provider.submitNewSession();
    if (!begun.OK) throw new Error(begun.Message);
    const state = new URL(begun.Value).searchParams.get('state')!;
    const { location } = await browse(pki.ca.certPath, begun.Value, { redirectUri: REDIRECT });
    const session: BrowserSession = { state };
    const done = await provider.parseAuthResponse({ uri: location! }, session);
    if (!done.OK) throw new Error(done.Message);
    return session.token as TokenFields;
  }

  const ended = (token: TokenFields): TokenFields => ({
    ...token,
    expires_at: Math.floor(Date.now() / 1000) - 10,
  });

  it('gives back what was put, on every instance, without asking the provider', async () => {
    const token = await login();
    await one.tokens.put(JANE, token);
    for (const { tokens } of [one, two]) expect(await tokens.get(JANE)).toEqual(token);
    await two.tokens.remove(JANE);
    expect(await one.tokens.get(JANE)).toBeUndefined();
  });

  it('renews an ended token once, whoever asks on whichever instance', async () => {
    const token = await login();
    await one.tokens.put(JANE, ended(token));
    const asked = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).tokens.get(JANE));
    const answers = await Promise.all(asked);
    const [first] = answers;
    expect(first).toMatchObject({ access_token: expect.any(String), provider: 'Institute' });
    expect(first?.access_token).not.toBe(token.access_token);
    expect(first?.refresh_token).not.toBe(token.refresh_token);
    expect(new Set(answers.map((answer) => answer?.access_token)).size).toBe(1);
    // The provider rotates: a second use of any refresh token would have ended the family.
    await two.tokens.put(JANE, ended(first!));
    const next = await two.tokens.get(JANE);
    expect(next?.refresh_token).not.toBe(first?.refresh_token);
    expect(await one.tokens.get(JANE)).toEqual(next);
  });

  it('forgets a token that the provider does not renew any more', async () => {
    await one.tokens.put(JANE, { ...ended(await login()), refresh_token: 'used up' });
    expect(await two.tokens.get(JANE)).toBeUndefined();
    expect(await rows()).toEqual([]);
  });

  it('forgets an ended token that cannot be renewed', async () => {
    const { refresh_token: _none, ...token } = ended(await login());
    await one.tokens.put(JANE, token);
    expect(await one.tokens.get(JANE)).toBeUndefined();
    expect(await rows()).toEqual([]);
  });

  it('keeps the token while the provider is away', async () => {
    const key = { provider: 'Away', owner: 'jane' };
    await one.tokens.put(key, { access_token: 'a', refresh_token: 'r', expires_at: 1 });
    for (const { tokens } of [one, two]) {
      await expect(tokens.get(key)).rejects.toMatchObject({
        status: 503,
        detail: 'The identity provider does not renew the token now',
      });
    }
    expect((await rows()).length).toBe(1);
  });

  it('a provider that never answers keeps nobody of another one waiting', async () => {
    const stuck = ['a', 'b'].map((owner) => ({ provider: 'Silent', owner }));
    const old = { access_token: 'a', refresh_token: 'r', expires_at: 1 };
    await Promise.all(stuck.map((key) => one.tokens.put(key, old)));
    await one.tokens.put(JANE, ended(await login()));
    let ended503 = 0;
    const waiting = stuck.map((key) => one.tokens.get(key).catch(() => void (ended503 += 1)));
    expect(await one.tokens.get(JANE)).toMatchObject({ access_token: expect.any(String) });
    expect(ended503).toBe(0);
    await one.context.get(IdProvidersService, { strict: false }).find('Silent')!.provider.close();
    await Promise.all(waiting);
    expect(ended503).toBe(2);
  });

  it('stores nothing that can be read without the key', async () => {
    const token = await login();
    await one.tokens.put(JANE, token);
    const text = JSON.stringify(await rows());
    for (const secret of [token.access_token, token.refresh_token, 'jane']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(String(secret)).toString('base64').slice(0, -4));
    }
    expect(text).toContain('"sealed":"v1.');
  });

  function rows(): Promise<{ id: string; sealed: string }[]> {
    return one.runtime.database.query({ text: 'select id, sealed from stored_token' });
  }
});
