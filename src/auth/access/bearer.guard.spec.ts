import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Admission, HttpRequest } from '#src/http/index.js';
import type { BearerTokens } from '../bearer/bearer-tokens.js';
import type { PresentedToken } from '../possession/token-holders.js';
import type { Principal } from '../bearer/principal.js';
import { Access, principalOf } from './access.decorator.js';
import { BearerGuard } from './bearer.guard.js';
import { BearerStrategy } from './bearer.strategy.js';

const alice = { user: 'alice', scopes: new Set(['jobs:read']) } as unknown as Principal;

class Routes {
  @Access('bearer', 'jobs:read') read(): void {}
}

/** Knows one good token; another one cannot be looked up. */
const tokens = {
  known: (token: string) => (token === 'known' ? alice : undefined),
  principal: ({ token, place, request }: PresentedToken) => {
    if (token === 'broken') return Promise.reject(Problem.unavailable('No database'));
    expect(request.originalUrl).toMatch(/^\/jobs/);
    if (token === 'bound') return Promise.resolve(place === 'dpop' ? alice : undefined);
    expect(place).toBe(request.originalUrl.includes('access_token') ? 'query' : 'bearer');
    return Promise.resolve(token === 'good' || token === 'known' ? alice : undefined);
  },
} as unknown as BearerTokens;

function requestOf(authorization: string | undefined, url = '/jobs'): HttpRequest {
  const headers = authorization === undefined ? {} : { authorization };
  return { headers, url, originalUrl: url } as HttpRequest;
}

const handler: unknown = Object.getOwnPropertyDescriptor(Routes.prototype, 'read')?.value;

function guardWith(config: Pick<Config, 'queryToken'>): BearerGuard {
  const admission = { admit: () => Promise.resolve() } as unknown as Admission;
  const strategy = new BearerStrategy(tokens);
  return new BearerGuard(new Reflector(), admission, tokens, config as Config, strategy);
}

/** The principal, or status, code, text and challenge of the refusal. */
async function outcome(
  authorization: string | undefined,
  url?: string,
  guard = guardWith({ queryToken: true }),
): Promise<unknown> {
  const request = requestOf(authorization, url);
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
