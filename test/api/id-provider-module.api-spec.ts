import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  IdProviderModule,
  IdProvidersService,
  InjectIdProvider,
  type OAuth2IdProvider,
} from '#src/id-provider/index.js';
import { type OAuthError } from '#src/oauth2-client/index.js';
import { refusalOf } from '#src/id-provider/testing/refusal.js';
import { EncodingError } from '#src/kernel/index.js';
import { InfrastructureModule } from '../../src/app/infrastructure.module.js';
import { readConfig } from '#src/config/index.js';
import { createLogger, Metrics } from '#src/runtime/index.js';
import { TrustedAuthorities } from '#src/x509/index.js';
import { RegistryModule } from '#src/registry/index.js';
import { createRuntime, type Runtime } from '../../src/app/runtime.js';
import { startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';
import { eventually } from '../support/testbed.js';

/** What somebody builds who needs two providers by name. */
@Injectable()
class Consumer {
  constructor(
    @InjectIdProvider('Institute') readonly institute: OAuth2IdProvider,
    @InjectIdProvider('Silent') readonly silent: OAuth2IdProvider,
  ) {}
}

/** Takes connections and never says a word. */
class SilentServer {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
  });
  connections = 0;

  async start(): Promise<string> {
    this.server.on('connection', () => (this.connections += 1));
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const { port } = this.server.address() as { port: number };
    return `https://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('IdProviderModule.forProviders', () => {
  let directory: string;
  let pki: TestPki;
  let idp: TestIdProvider;
  let scratch: ScratchDatabase;
  let runtime: Runtime;
  const silent = new SilentServer();
  const authorities: TrustedAuthorities[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-module-'));
    pki = await createTestPki();
    idp = await startIdProvider(pki);
    scratch = await scratchDatabase();
    const client = { client_id: 'conf', client_secret: 'secret of conf: 100% & more' };
    const trust = { verify: pki.ca.certPath, trust_env: false };
    const file = join(directory, 'providers.yaml');
    const providers = {
      Silent: { issuer: await silent.start(), ...client, ...trust },
      Institute: { issuer: idp.issuer, ...client, ...trust, scope: 'openid profile' },
    };
    await writeFile(file, JSON.stringify(providers));
    const config = readConfig({
      GRID_HOME: directory,
      DATABASE_URL: scratch.url,
      GRID_ID_PROVIDERS: file,
    });
    runtime = createRuntime(config, () => ({ url: scratch.url }), {
      logger: createLogger('silent'),
    });
    await runtime.connect(new AbortController().signal);
  });
  afterAll(async () => {
    for (const one of authorities) one.close();
    await runtime?.close();
    await scratch?.remove();
    await silent.stop();
    await idp?.stop();
    await pki?.remove();
    await rm(directory, { recursive: true, force: true });
  });

  async function start(names: string[]): Promise<INestApplicationContext> {
    const trusted = await TrustedAuthorities.open({ paths: [] });
    authorities.push(trusted);
    @Module({
      imports: [
        InfrastructureModule.forRoot({ ...runtime, metrics: new Metrics(), authorities: trusted }),
        RegistryModule,
        IdProviderModule.forProviders(names),
      ],
      providers: names.length === 2 ? [Consumer] : [],
    })
    class ConsumerModule {}
    const options = { logger: false, abortOnError: false } as const;
    return NestFactory.createApplicationContext(ConsumerModule, options);
  }

  it('injects providers that work, one object per name', async () => {
    const context = await start(['Institute', 'Silent']);
    try {
      const { institute, silent: other } = context.get(Consumer);
      const service = context.get(IdProvidersService, { strict: false });
      expect(service.find('Institute')?.provider).toBe(institute);
      expect([institute.name, other.name]).toEqual(['Institute', 'Silent']);
      expect(await institute.get_metadata('issuer')).toBe(idp.issuer);
      const begun = await institute.submitNewSession();
      expect(begun).toEqual({ OK: true, Value: expect.stringContaining(`${idp.issuer}/auth?`) });
      const url = new URL((begun as { Value: string }).Value);
      const { database } = runtime;
      expect(
        await database.query({ text: 'select count(*)::int as n from login_session' }),
      ).toEqual([{ n: 1 }]);
      expect(url.searchParams.get('redirect_uri')).toMatch(/\/oauth2\/callback\/Institute$/);
    } finally {
      await context.close();
    }
  });

  it('maps groups as the registry says now', async () => {
    const context = await start(['Institute']);
    const { database } = runtime;
    const change = (text: string) => database.execute({ text });
    try {
      const provider = context
        .get(IdProvidersService, { strict: false })
        .find('Institute')!.provider;
      const known = () => [provider.getGroupScopes('member'), provider.getScopeGroups('a b c')];
      const refusal = async () => {
        const error = await refusalOf(provider.refreshToken('none', 'member'));
        return (error as OAuthError).error;
      };
      await change(
        `insert into registry_group (name, position, properties, idp_scopes)
          values ('member', 1, '{}', '{a,b}')`,
      );
      await eventually(
        () => Promise.resolve(known().flat().join() === 'a,b,member'),
        'the group of the registry',
      );
      expect(await refusal()).toBe('invalid_grant');
      await change(`delete from registry_group where name = 'member'`);
      await eventually(
        async () => (await refusal()) === 'configuration_error',
        'the group to be gone',
      );
      expect(known()).toEqual([[], []]);
    } finally {
      await context.close();
    }
  });

  it('starts and stops while a provider takes connections and never answers', async () => {
    const before = silent.connections;
    const context = await start(['Institute', 'Silent']);
    expect(silent.connections).toBe(before);
    try {
      await eventually(
        () => Promise.resolve(silent.connections > before),
        'the silent provider to be asked in the background',
      );
      const { institute } = context.get(Consumer);
      const keys = await institute.getJWKs();
      expect(keys?.keys.length).toBe(1);
    } finally {
      await context.close();
    }
  });

  it('stops the start for a name that the file does not have', async () => {
    await expect(start(['Nobody'])).rejects.toThrow(
      'there is no identity provider Nobody in GRID_ID_PROVIDERS',
    );
  });

  it('stops the start for a file that is no UTF-8', async () => {
    const path = join(directory, 'latin1.yaml');
    await writeFile(path, 'Institute:\n  title: Orléans\n', 'latin1');
    const config = { ...runtime.config, idProvidersFile: path };
    await expect(IdProvidersService.open({ config } as never)).rejects.toThrow(
      `GRID_ID_PROVIDERS: ${path}: ${new EncodingError(2).message}`,
    );
  });
});
