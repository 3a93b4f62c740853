import { SetMetadata, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { ACCESS_RULE, labelsOf, type Admission, type HttpRequest } from '#src/http/index.js';
import { OpenRoute } from '#src/http/open-route.js';
import type { User } from '#src/registry/index.js';
import type { BearerTokens } from '../bearer/bearer-tokens.js';
import type { Principal } from '../bearer/principal.js';
import { Access, principalOf, requestOf } from './access.decorator.js';
import {
  AccessGuard,
  BearerStrategy,
  BearerGuard,
  OpenGuard,
  CertificateGuard,
  bearerHeaderOf,
} from './access.guard.js';
import type { CertificateUsers } from './certificate-users.js';
import type { PresentedToken, TokenHolders } from '../possession/token-holders.js';
import type { WorkerTokens } from '../possession/worker-tokens.js';
import { WorkerGuard } from './worker.guard.js';

class Routes {
  @Access('bearer', 'jobs:read') read(): void {}
  @Access('bearer', 'jobs:kill') kill(): void {}
  @Access('certificate') certificate(): void {}
  @Access('open') open(): void {}
  @OpenRoute() probe(): void {}
  silent(): void {}
  @SetMetadata(ACCESS_RULE, { kind: 'everybody' }) unknown(): void {}
  @SetMetadata(ACCESS_RULE, { kind: 'bearer' }) scopeless(): void {}
}

@Access('open')
class OpenRoutes {
  inherited(): void {}
  @Access('bearer', 'jobs:kill') own(): void {}
}

const alice = {
  user: 'alice',
  group: 'grid_user',
  setup: 'Prod',
  clientId: 'portal',
  scopes: new Set(['jobs:read']),
} as unknown as Principal;
/** One principal for all requests with the token, as the service keeps it while nothing changes. */
const tokens = {
  known: () => undefined,
  principal: () => Promise.resolve(alice),
} as unknown as BearerTokens;
const users = {
  certified: () => Promise.resolve({ user: { name: 'bob' } as User }),
} as unknown as CertificateUsers;

interface Outcome {
  /** True, or what is refused. */
  answer: unknown;
  /** As whom the request was counted, in turn. */
  counted: string[];
  request: HttpRequest;
}

async function call(name: string, of: { prototype: object } = Routes): Promise<Outcome> {
  const handler: unknown = Object.getOwnPropertyDescriptor(of.prototype, name)?.value;
  const counted: string[] = [];
  const admission = {
    admit: (key: string) => Promise.resolve(void counted.push(key)),
  } as unknown as Admission;
  const headers = { authorization: 'Bearer good' };
  const request = { headers, url: '/jobs', originalUrl: '/jobs' } as HttpRequest;
  const context = {
    getHandler: () => handler,
    getClass: () => of,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => undefined }),
  } as unknown as ExecutionContext;
  const reflector = new Reflector();
  const guard = new AccessGuard(
    reflector,
    new BearerGuard(
      reflector,
      admission,
      tokens,
      { queryToken: true } as Config,
      new BearerStrategy(tokens),
    ),
    new CertificateGuard(users, admission),
    new WorkerGuard(admission, {} as WorkerTokens, {} as TokenHolders),
    new OpenGuard(admission),
  );
  const decide = async (): Promise<unknown> => guard.canActivate(context);
  const answer = await decide().catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    const { 'WWW-Authenticate': challenge } = error.headers;
    return [error.status, error.code, error.detail, challenge];
  });
  return { answer, counted, request };
}

const insufficient = (scope: string) => [
  ...[403, 'auth.insufficient-scope', `This needs the scope ${scope}`],
  'Bearer realm="gridgate", error="insufficient_scope", ' +
    `error_description="This needs the scope ${scope}", scope="${scope}"`,
];
const closed = [403, 'auth.forbidden', 'Nobody may call this', undefined];

describe('the access guard', () => {
  it('lets a token with the scope in, and counts the user with the application', async () => {
    const { answer, counted, request } = await call('read');
    expect([answer, counted]).toEqual([true, ['unknown ', 'user alice\0portal']]);
    expect(principalOf(request)).toEqual(alice);
    expect(requestOf(principalOf(request))).toBe(request);
    expect(labelsOf(request)).toEqual({
      ...{ user: 'alice', group: 'grid_user', setup: 'Prod', client: 'portal' },
    });
  });

  it('knows of two requests with one token which is which', async () => {
    const [first, second] = [(await call('read')).request, (await call('read')).request];
    expect(requestOf(principalOf(first))).toBe(first);
    expect(requestOf(principalOf(second))).toBe(second);
  });

  it('refuses a token without the scope, and the log says whose it is', async () => {
    const { answer, counted, request } = await call('kill');
    expect([answer, counted]).toEqual([insufficient('jobs:kill'), ['unknown ']]);
    expect(labelsOf(request)).toEqual({
      ...{ user: 'alice', group: 'grid_user', setup: 'Prod', client: 'portal' },
    });
    expect(() => principalOf(request)).toThrow('the route has no bearer access');
  });

  it('lets a certificate in, and counts its user', async () => {
    const { answer, counted, request } = await call('certificate');
    expect([answer, counted]).toEqual([true, ['unknown ', 'user bob\0certificate']]);
    expect(labelsOf(request)).toEqual({ user: 'bob' });
  });

  it('counts the address where nobody has to be known, and nothing for probes', async () => {
    expect(await call('open')).toMatchObject({ answer: true, counted: ['address '] });
    expect(await call('probe')).toMatchObject({ answer: true, counted: [] });
  });

  it('refuses everybody where nothing or nothing known is declared', async () => {
    expect(await call('silent')).toMatchObject({ answer: closed, counted: [] });
    expect(await call('unknown')).toMatchObject({ answer: closed, counted: [] });
    expect((await call('scopeless')).answer).toEqual(insufficient(''));
  });

  it('hears the route before its class', async () => {
    expect((await call('inherited', OpenRoutes)).answer).toBe(true);
    expect((await call('own', OpenRoutes)).answer).toEqual(insufficient('jobs:kill'));
  });
});

/** Knows one good token; another one cannot be looked up. */
const lookedUp = {
  known: (token: string) => (token === 'known' ? alice : undefined),
  principal: ({ token, place, request }: PresentedToken) => {
    if (token === 'broken') return Promise.reject(Problem.unavailable('No database'));
    expect(request.originalUrl).toMatch(/^\/jobs/);
    if (token === 'bound') return Promise.resolve(place === 'dpop' ? alice : undefined);
    expect(place).toBe(request.originalUrl.includes('access_token') ? 'query' : 'bearer');
    return Promise.resolve(token === 'good' || token === 'known' ? alice : undefined);
  },
} as unknown as BearerTokens;

function requestWith(authorization: string | undefined, url = '/jobs'): HttpRequest {
  const headers = authorization === undefined ? {} : { authorization };
  return { headers, url, originalUrl: url } as HttpRequest;
}

const handler: unknown = Object.getOwnPropertyDescriptor(Routes.prototype, 'read')?.value;

function guardWith(config: Pick<Config, 'queryToken'>): BearerGuard {
  const admission = { admit: () => Promise.resolve() } as unknown as Admission;
  const strategy = new BearerStrategy(lookedUp);
  return new BearerGuard(new Reflector(), admission, lookedUp, config as Config, strategy);
}

/** The principal, or status, code, text and challenge of the refusal. */
async function outcome(
  authorization: string | undefined,
  url?: string,
  guard = guardWith({ queryToken: true }),
): Promise<unknown> {
  const request = requestWith(authorization, url);
  const context = {
    getHandler: () => handler,
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => undefined }),
  } as unknown as ExecutionContext;
  try {
    expect(await guard.canActivate(context)).toBe(true);
    return principalOf(request);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { 'WWW-Authenticate': challenge } = error.headers;
    return [error.status, error.code, error.detail, challenge];
  }
}

const invalid = (text: string) =>
  `Bearer realm="gridgate", error="invalid_request", error_description="${text}"`;
const MALFORMED = 'The Authorization header is not of the form: Bearer <token>';
const AMBIGUOUS = 'Send one access token, in the header or in the query string';
const BAD = 'The access token is unknown, expired or revoked';

const missing = [401, 'auth.token-missing', 'Send an access token', 'Bearer realm="gridgate"'];
const malformed = [400, 'auth.token-malformed', MALFORMED, invalid(MALFORMED)];
const ambiguous = [400, 'auth.token-ambiguous', AMBIGUOUS, invalid(AMBIGUOUS)];
const bad = [
  ...[401, 'auth.token-invalid', BAD],
  `Bearer realm="gridgate", error="invalid_token", error_description="${BAD}"`,
];
const switchedOff = [
  ...[401, 'auth.token-missing', 'Tokens in the query string are switched off; send the header'],
  'Bearer realm="gridgate"',
];

describe('a token in the header', () => {
  it.each<[string | undefined, unknown]>([
    ['Bearer good', alice],
    ['Bearer known', alice],
    ['known bearer', alice],
    ['bEARER good', alice],
    ['good Bearer', alice],
    ['good bearer', alice],
    ['  Bearer \t good ', alice],
    ['DPoP bound', alice],
    ['dpop bound', alice],
    ['  DPoP \t bound ', alice],
    ['Bearer bound', bad],
    ['DPoP', malformed],
    ['Bearer bad', bad],
    ['bad Bearer', bad],
    [undefined, missing],
    ['Basic Z29vZA==', missing],
    ['Digest username="x", realm="y"', missing],
    ['Bearer', malformed],
    ['', malformed],
    ['good', malformed],
    ['Bearer good more', malformed],
    ['good more Bearer', malformed],
    ['good Bearer more', malformed],
  ])('%j', async (header, expected) => {
    expect(await outcome(header)).toEqual(expected);
  });

  it('is judged for its own request when several come together', async () => {
    const guard = guardWith({ queryToken: true });
    const headers = ['Bearer bad', 'Bearer good', 'Basic Z29vZA==', 'good bearer'];
    const all = await Promise.all(headers.map((header) => outcome(header, '/jobs', guard)));
    expect(all).toEqual([bad, alice, missing, alice]);
  });

  it('is not refused when it cannot be looked up', async () => {
    expect((await outcome('Bearer broken')) as unknown[]).toEqual([
      ...[503, 'service.unavailable', 'No database', undefined],
    ]);
  });
});

describe('a token in the query', () => {
  const once = '/jobs?access_token=good';

  it.each<[string | undefined, string, boolean, unknown]>([
    [undefined, once, true, alice],
    [undefined, '/jobs?access_token=bad', true, bad],
    ['Bearer good', once, true, ambiguous],
    ['Bearer known', once, true, ambiguous],
    ['Bearer known', '/jobs?access%5Ftoken=good', true, ambiguous],
    [undefined, `${once}&access_token=good`, true, ambiguous],
    [undefined, once, false, switchedOff],
    ['DPoP bound', once, true, ambiguous],
    ['Bearer good', once, false, ambiguous],
    ['Bearer good', '/jobs', false, alice],
    [undefined, `${once}&access_token=good`, false, ambiguous],
  ])('header %j, %s, permitted %j', async (header, url, queryToken, expected) => {
    expect(await outcome(header, url, guardWith({ queryToken }))).toEqual(expected);
  });
});

describe('the bearer token of a header', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['abc bearer', 'abc'],
    ['\tBEARER  abc ', 'abc'],
    [undefined, undefined],
    ['', undefined],
    ['Bearer', undefined],
    ['Basic abc', undefined],
    ['Bearer abc def', undefined],
  ])('%j is %j', (header, token) => {
    expect(bearerHeaderOf({ headers: header === undefined ? {} : { authorization: header } })).toBe(
      token,
    );
  });
});
