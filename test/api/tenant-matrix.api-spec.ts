import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'undici';
import { isNightly } from '../support/counts.js';
import { freePorts } from '../support/ports.mjs';
import {
  issueBadCertificates,
  issueFor,
  type BadCertificates,
} from '../support/tenants/certificates.js';
import {
  BEARER,
  CERTIFICATE,
  CERTIFICATE_GRANT,
  EXPECTED,
  OPEN,
} from '../support/tenants/expectations.js';
import { MODES, OTHERS, type Mode, type Other } from '../support/tenants/verdicts.js';
import { NOT_TRIED, outcomeOf } from '../support/tenants/outcome.js';
import { challengeOf } from '../support/challenges.js';
import { tenantMatrixPage } from '../support/tenants/page.js';
import { makePlaces, type Call, type Place } from '../support/tenants/place.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { STRANGER, writeRegistry } from '../support/tenants/registry.js';
import { badTokens, TokenForge, withoutScope } from '../support/tenants/tokens.js';
import { WORKERS } from '../support/tenants/workers.js';
import { TestWorker } from '../support/test-worker.js';
import { startGrid, support, GridClient, type Answer, type Grid } from '../support/testbed.js';

const PAGE = 'docs/tenant-matrix.md';
const REALM = 'Bearer realm="gridgate"';
const INVALID = `${REALM}, error="invalid_token", error_description="The access token is unknown, expired or revoked"`;

/** With the defaults. */
let shared: Grid;
/** The same registry, jobs and catalogue where settings open more or less. */
const others = new Map<Mode, { grid: Grid; url: string }>();
const agents: Agent[] = [];
let certificates: BadCertificates;
let tokens: Record<string, string>;
let worker: TestWorker;
/** It has the bytes of all files of the places. */
const storage = new PlayedStorage('ten bytes.');
let stranger: { cert: string; key: string };
const places = new Map<string, Place>();

beforeAll(async () => {
  certificates = await issueBadCertificates(support().pki);
  const env = {
    GRID_ROLE: 'api',
    GRID_LOG_LEVEL: 'warn',
    GRID_WEBHOOK_ALLOW: '127.0.0.1',
    GRID_WEBHOOK_LIMIT: '1000',
    GRID_TRUSTED_CA: certificates.directory,
    GRID_REGISTRY: await writeRegistry(certificates.directory, await storage.start()),
    GRID_REGISTRY_SYNC: 'true',
  };
  shared = await startGrid({ env });
  for (const mode of ['true', 'false'] as const) {
    const [port = 0] = await freePorts(1);
    const second = {
      GRID_PORT: String(port),
      GRID_PUBLIC_URL: shared.url,
      GRID_GLOBAL_JOBS: mode,
      GRID_CATALOGUE_GLOBAL_READ: mode,
      GRID_SANDBOX_STORE: join(shared.home, 'sandboxes'),
    };
    others.set(mode, {
      grid: await shared.second(second),
      url: `https://127.0.0.1:${port}`,
    });
  }
  stranger = await issueFor(support().pki, STRANGER.user);
  const names = Object.keys(BEARER);
  const made = await makePlaces(shared, names);
  names.forEach((name, index) => places.set(name, made[index] as Place));
  worker = await TestWorker.registered(shared, 'DESK.example');
  tokens = { ...(await badTokens(shared)), 'token of a worker': worker.token };
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  for (const { grid } of others.values()) await grid.stop();
  await shared?.remove();
  await storage.stop();
  await certificates?.remove();
});

/** Makes the call of an operation in somebody's name. */
function attempt(client: GridClient, name: string, { path, options }: Call): Promise<Answer> {
  const [method = ''] = name.split(' ');
  return client.call(method, path, options);
}

function callOf(name: string): Call {
  return BEARER[name]!.call(places.get(name)!);
}

/** What a refusal consists of. */
function refusal(answer: Answer): [string, unknown] {
  return [outcomeOf(answer), answer.headers['www-authenticate']];
}

async function somebody(mode: Mode, who: Other): Promise<GridClient> {
  const token = await {
    groupMate: () => shared.token('bob', 'grid_user'),
    otherGroup: () => shared.token('bob', 'grid_share'),
    otherSetup: () => shared.token('alice', 'grid_user', 'Test'),
    monitor: () => shared.token('mona', 'grid_mon'),
    administrator: () => shared.token('adam', 'grid_adm'),
    manager: () => shared.token('fred', 'vo_fc'),
    monitorElsewhere: () => shared.token('mona', 'else_mon'),
    administratorElsewhere: () => shared.token('adam', 'else_adm'),
    managerElsewhere: () => shared.token('fred', 'else_fc'),
    stranger: () => shared.token(stranger, STRANGER.group),
  }[who]();
  const other = others.get(mode);
  if (!other) return shared.bearer(token);
  const agent = new Agent({ connect: { ca: shared.ca } });
  agents.push(agent);
  return new GridClient(other.url, agent, token);
}

/** The outcomes of a call for all operations, in turn. */
async function forEach<T>(
  names: readonly string[],
  ask: (name: string) => Promise<T>,
): Promise<Record<string, T>> {
  const seen: Record<string, T> = {};
  for (const name of names) seen[name] = await ask(name);
  return seen;
}

function all<T>(names: readonly string[], value: (name: string) => T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

interface Described {
  paths: Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
}

describe('the operations of the service', () => {
  it('have expectations, all of them, with the access that the document names', async () => {
    const { body } = await shared.anonymous.get<Described>('/docs/openapi.json');
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security = [] }]) => {
        const scope = security.find((way) => way['oauth2'])?.['oauth2']?.[0];
        const isClosed =
          security.length > 0 && security.every((way) => Object.keys(way).length > 0);
        return [`${method.toUpperCase()} ${path}`, scope ?? (isClosed ? 'certificate' : 'open')];
      }),
    );
    const expected = [
      ...Object.entries(BEARER).map(([name, { scope }]) => [name, scope]),
      ...Object.keys(CERTIFICATE).map((name) => [name, 'certificate']),
      ...Object.keys(OPEN).map((name) => [name, 'open']),
    ].filter(([name]) => name !== 'GET /metrics'); // not in the document
    expect(described.sort()).toEqual(expected.sort());
    expect(new Set(EXPECTED).size).toBe(EXPECTED.length);
  });
});

describe('operations that need a token', () => {
  const names = Object.keys(BEARER);

  it('refuse calls without one, and a client certificate does not replace it', async () => {
    const refused = all(names, () => ['401 auth.token-missing', challengeOf(shared, REALM)]);
    for (const client of [shared.anonymous, await shared.certificate('alice')]) {
      const seen = await forEach(names, async (name) =>
        refusal(await attempt(client, name, callOf(name))),
      );
      expect(seen).toEqual(refused);
    }
  });

  it('refuse every token that is no good', async () => {
    const faults = Object.entries(tokens);
    for (const [at, [fault, token]] of faults.entries()) {
      const client = shared.bearer(token);
      // Every operation with every fault at night; otherwise each with one of them.
      const tried = names.filter((_, index) => isNightly || index % faults.length === at);
      const seen = await forEach(tried, async (name) =>
        refusal(await attempt(client, name, callOf(name))),
      );
      const refused = all(tried, () => ['401 auth.token-invalid', challengeOf(shared, INVALID)]);
      expect({ fault, seen }).toEqual({ fault, seen: refused });
    }
  });

  it('refuse tokens in the header and the query at once', async () => {
    const token = await shared.token('alice', 'grid_user');
    const client = shared.bearer(token);
    const seen = await forEach(names, async (name) => {
      const { path, options = {} } = callOf(name);
      const query = { ...(options.query as Record<string, string>), access_token: token };
      const answer = await attempt(client, name, {
        path,
        options: { ...options, query },
      });
      return refusal(answer);
    });
    const detail = 'Send one access token, in the header or in the query string';
    const challenge = challengeOf(
      shared,
      `${REALM}, error="invalid_request", error_description="${detail}"`,
    );
    expect(seen).toEqual(all(names, () => ['400 auth.token-ambiguous', challenge]));
  });

  it('refuse tokens without their scope and name it', async () => {
    const forge = await TokenForge.of(shared);
    const scopes = [...new Set(names.map((name) => BEARER[name]!.scope))];
    const without = new Map(
      scopes.map((scope) => [scope, shared.bearer(withoutScope(forge, scope))]),
    );
    const seen = await forEach(names, async (name) =>
      refusal(await attempt(without.get(BEARER[name]!.scope)!, name, callOf(name))),
    );
    const challenge = (scope: string): string =>
      challengeOf(
        shared,
        `${REALM}, error="insufficient_scope", error_description="This needs the scope ${scope}", scope="${scope}"`,
      );
    expect(seen).toEqual(
      all(names, (name) => ['403 auth.insufficient-scope', challenge(BEARER[name]!.scope)]),
    );
  });

  it.each(OTHERS.flatMap((who) => MODES.map((mode) => ({ who, mode }))))(
    'give $who what the table says where the settings say $mode',
    async ({ who, mode }) => {
      const client = await somebody(mode, who);
      const index = OTHERS.indexOf(who);
      const tried = names.filter((name) => {
        const verdict = BEARER[name]!.others[mode][index];
        return verdict !== undefined && verdict !== NOT_TRIED;
      });
      const seen = await forEach(tried, async (name) =>
        BEARER[name]!.outcome(await attempt(client, name, callOf(name)), places.get(name)!),
      );
      expect(seen).toEqual(all(tried, (name) => BEARER[name]!.others[mode][index]));
    },
  );

  it('give alice what is hers, after all that', async () => {
    const alice = await shared.as('alice');
    const seen = await forEach(names, async (name) =>
      BEARER[name]!.outcome(await attempt(alice, name, callOf(name)), places.get(name)!),
    );
    expect(seen).toEqual(all(names, (name) => BEARER[name]!.own));
  });
});

describe('operations that need a client certificate', () => {
  const calls: [string, Call][] = [
    ...Object.entries(CERTIFICATE).map(([name, { call }]): [string, Call] => [name, call]),
    ['GET /oauth2/token', CERTIFICATE_GRANT],
  ];
  const refused = calls.map(([name]) => [name, 401, 'invalid_client', 'auth.certificate-required']);

  async function refusals(
    client: GridClient,
    headers: Record<string, string> = {},
  ): Promise<unknown> {
    const seen = [];
    for (const [name, { path, options }] of calls) {
      const { status, body } = await client.get(path, { ...options, headers });
      seen.push([name, status, body.error, body.code]);
    }
    return seen;
  }

  it('refuse calls without one, with a forged header, and with a bearer token instead', async () => {
    const { cert } = await shared.pair('alice');
    const der = cert.replace(/-----[^-]+-----|\s/g, '');
    const forged = { 'client-cert': `:${der}:`, 'x-ssl-client-cert': encodeURIComponent(cert) };
    expect(await refusals(shared.anonymous)).toEqual(refused);
    expect(await refusals(shared.anonymous, forged)).toEqual(refused);
    expect(await refusals(await shared.as('alice'))).toEqual(refused);
    expect(await refusals(await shared.certificate('stranger'))).toEqual(refused);
  });

  it('refuse every certificate that is no good', async () => {
    for (const [fault, pair] of Object.entries(certificates.byFault)) {
      const seen = await refusals(await shared.certificate(pair));
      expect({ fault, seen }).toEqual({ fault, seen: refused });
    }
  });

  it('give alice what is hers', async () => {
    const alice = await shared.certificate('alice');
    for (const [, { path, options }] of calls) {
      expect((await alice.get(path, options)).status).toBe(200);
    }
  });
});

describe('open operations', () => {
  const names = Object.keys(OPEN);
  const callOfOpen = (name: string): Call => OPEN[name]!.call ?? { path: name.split(' ')[1]! };

  it('answer a bare call as the table says', async () => {
    const seen = await forEach(names, async (name) =>
      outcomeOf(await attempt(shared.anonymous, name, callOfOpen(name))),
    );
    expect(seen).toEqual(all(names, (name) => OPEN[name]!.outcome));
  });

  it('answer the same with a token that is no good', async () => {
    const stale = shared.bearer(tokens['expired']!);
    const seen = await forEach(names, async (name) =>
      outcomeOf(await attempt(stale, name, callOfOpen(name))),
    );
    expect(seen).toEqual(all(names, (name) => OPEN[name]!.outcome));
  });
});

describe('routes of workers', () => {
  const names = Object.keys(WORKERS);
  const refused = all(names, (name) => WORKERS[name]!.others);

  it('refuse everybody else, whatever token or certificate they show', async () => {
    const people = await Promise.all(OTHERS.map((who) => somebody('vo', who)));
    const admin = shared.bearer(await shared.token('adam', 'grid_adm', 'Prod', 'admin'));
    const wrong = Object.values(tokens).map((token) => shared.bearer(token));
    const certified = await shared.certificate('adam');
    for (const client of [shared.anonymous, certified, admin, ...people, ...wrong]) {
      const seen = await forEach(names, async (name) =>
        outcomeOf(await attempt(client, name, WORKERS[name]!.call(worker.id))),
      );
      expect(seen).toEqual(refused);
    }
  });

  it('know no worker but the one that calls', async () => {
    const another = await TestWorker.registered(shared, 'DESK.example');
    const seen = await forEach(names, async (name) => {
      const { path, options } = WORKERS[name]!.call(worker.id);
      const [method = ''] = name.split(' ');
      const shown = WORKERS[name]!.opens.startsWith('the token') && { token: another.token };
      return outcomeOf(await another.caller.call(method, path, { ...options, ...shown }));
    });
    expect(seen).toEqual(all(names, (name) => WORKERS[name]!.otherWorker));
  });

  it('are all that the token of a worker opens', async () => {
    const bearers = Object.keys(BEARER);
    const seen = await forEach(bearers, async (name) => {
      const { path, options } = callOf(name);
      const [method = ''] = name.split(' ');
      const call = { ...options, token: worker.token };
      return [
        refusal(await attempt(shared.bearer(worker.token), name, callOf(name))),
        outcomeOf(await worker.caller.call(method, path, call)),
      ];
    });
    const bad = '401 auth.token-invalid';
    expect(seen).toEqual(all(bearers, () => [[bad, challengeOf(shared, INVALID)], bad]));
    const open = Object.keys(OPEN);
    const answers = await forEach(open, async (name) => {
      const { path, options } = OPEN[name]!.call ?? { path: name.split(' ')[1]! };
      const [method = ''] = name.split(' ');
      return outcomeOf(await worker.caller.call(method, path, { ...options, token: worker.token }));
    });
    expect(answers).toEqual(all(open, (name) => OPEN[name]!.outcome));
    expect((await worker.call()).status).toBe(204);
  });
});

describe(PAGE, () => {
  it('says what was tried here (GRID_WRITE_PAGES=true writes it)', () => {
    const page = tenantMatrixPage({
      tokens: Object.keys(tokens),
      certificates: Object.keys(certificates.byFault),
    });
    if (process.env['GRID_WRITE_PAGES'] === 'true') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });
});
