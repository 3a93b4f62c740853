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
import { AccessGuard } from './access.guard.js';
import { BearerGuard } from './bearer.guard.js';
import { BearerStrategy } from './bearer.strategy.js';
import { CertificateGuard } from './certificate.guard.js';
import type { CertificateUsers } from './certificate-users.js';
import { OpenGuard } from './open.guard.js';

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
