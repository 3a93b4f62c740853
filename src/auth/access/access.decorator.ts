import {
  applyDecorators,
  createParamDecorator,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ApiBasicAuth, ApiBearerAuth, ApiOAuth2, ApiSecurity } from '@nestjs/swagger';
import { ACCESS_RULE, type HttpRequest } from '#src/http/index.js';
import type { User } from '#src/registry/index.js';
import type { Principal } from '../bearer/principal.js';
import type { Right } from '../protocol/grid-scopes.js';

/**
 * How a route is opened: a bearer token (with a scope), a client certificate, the token of a worker, or by nobody in particular.
 * Probes (`@OpenRoute` of the platform) are open and not counted.
 */
export type AccessKind = 'bearer' | 'certificate' | 'worker' | 'open' | 'probe';

/** What `@Access` writes on a route. */
export interface AccessRule {
  kind: AccessKind;
  scope?: Right;
  /** Scopes that are as good as `scope` here. */
  also?: readonly Right[];
}

const PRINCIPAL = Symbol('principal');
const LOOK = Symbol('a look at the token');
const REQUESTS = new WeakMap<Principal, HttpRequest>();
const CERTIFICATE_USER = Symbol('user of the certificate');
const WORKER = Symbol('id of the worker');

/** Declares who may call a route; every route must carry it. `bearer` routes name the scope they need, and others that do. */
export function Access(
  kind: 'bearer',
  scope: Right,
  ...also: Right[]
): MethodDecorator & ClassDecorator;
export function Access(kind: 'certificate' | 'worker' | 'open'): MethodDecorator & ClassDecorator;
export function Access(
  kind: Exclude<AccessKind, 'probe'>,
  scope?: Right,
  ...also: Right[]
): MethodDecorator & ClassDecorator {
  const rule: AccessRule = scope === undefined ? { kind } : { kind, scope, also };
  const mark = SetMetadata(ACCESS_RULE, rule);
  if (kind === 'certificate') return applyDecorators(mark, ApiSecurity('certificate'));
  if (kind !== 'bearer') return applyDecorators(mark);
  const asked = scope === undefined ? [] : [scope];
  // alternatives: the header, the header filled by Flow B, the query parameter
  return applyDecorators(mark, ApiOAuth2(asked), ApiBearerAuth(), ApiSecurity('query'));
}

/** An open route on which an application proves itself: by Basic or in the form, by its certificate, or not at all when it is a public one. */
export function ClientAccess(): MethodDecorator {
  return applyDecorators(
    Access('open'),
    ApiBasicAuth('client'),
    ApiSecurity('certificate'),
    ApiSecurity({}),
  );
}

/** Handler → class → its rule: looked up once, since it costs more than all the rest of a guard. */
const RULES = new WeakMap<object, WeakMap<object, AccessRule>>();

/** What `@Access` says of the route, or of its class; undefined where nothing is said. */
export function accessRuleOf(
  reflector: Reflector,
  context: ExecutionContext,
): AccessRule | undefined {
  const places = [context.getHandler(), context.getClass()] as const;
  const known = RULES.get(places[0])?.get(places[1]);
  if (known) return known;
  const rule = reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, [...places]);
  if (!rule) return undefined;
  const ofHandler = RULES.get(places[0]) ?? new WeakMap<object, AccessRule>();
  RULES.set(places[0], ofHandler.set(places[1], rule));
  return rule;
}

/** Whose requests are counted together: those of a user through one application. */
export function callerOf(user: string, client: string): string {
  return `user ${user}\0${client}`;
}

/**
 * Remembers who calls; only the bearer guard writes it. Requests with one token are given one principal, so each gets a
 * copy of its own: else the audit trail would name whichever of them came last.
 */
export function setPrincipal(request: HttpRequest, principal: Principal): void {
  const own = { ...principal };
  (request as { [PRINCIPAL]?: Principal })[PRINCIPAL] = own;
  REQUESTS.set(own, request);
}

/** In which request a principal acts, for the audit trail; undefined outside of one. */
export function requestOf(principal: Principal): HttpRequest | undefined {
  return REQUESTS.get(principal);
}

/** Remembers how the token of the request is looked at; only the bearer strategy writes it. */
export function setTokenLook(
  request: HttpRequest,
  look: () => Promise<Principal | undefined>,
): void {
  (request as { [LOOK]?: typeof look })[LOOK] = look;
}

/**
 * The principal as its token and the registry have it now, for answers that last: undefined when the token has expired or
 * been revoked, or its bearer has lost the group. Throws Problem 503 when that cannot be told.
 */
export async function principalNow(principal: Principal): Promise<Principal | undefined> {
  const request = REQUESTS.get(principal);
  return (request as { [LOOK]?: () => Promise<Principal | undefined> } | undefined)?.[LOOK]?.();
}

/** Who calls; on routes with `@Access('bearer', …)` only. */
export function principalOf(request: object): Principal {
  const principal = (request as { [PRINCIPAL]?: Principal })[PRINCIPAL];
  if (!principal) throw new Error('the route has no bearer access');
  return principal;
}

/** Remembers whose certificate it is; only the certificate guard writes it. */
export function setCertificateUser(request: object, user: User): void {
  (request as { [CERTIFICATE_USER]?: User })[CERTIFICATE_USER] = user;
}

/** Remembers which worker calls; only the guard of workers writes it. */
export function setWorkerId(request: object, id: string): void {
  (request as { [WORKER]?: string })[WORKER] = id;
}

/** Which worker calls; on routes with `@Access('worker')` only. */
export function workerIdOf(request: object): string {
  const id = (request as { [WORKER]?: string })[WORKER];
  if (id === undefined) throw new Error('the route has no access for workers');
  return id;
}

/** Handler parameter: the Principal of the request. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  principalOf(context.switchToHttp().getRequest<object>()),
);

/** Handler parameter: the user of the client certificate; on routes with `@Access('certificate')` only. */
export const CertificateUser = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<{ [CERTIFICATE_USER]?: User }>();
  const user = request[CERTIFICATE_USER];
  if (!user) throw new Error('the route has no certificate access');
  return user;
});
