import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { controllersOfApplication } from '#src/app/describe-api.js';
import { ACCESS_RULE } from '#src/http/index.js';
import { EXPECTED } from '../support/tenants/expectations.js';

/** The endpoint table of the interface, to the letter. */
const INTERFACE_ROUTES = [
  'GET /oauth2/token',
  'GET /oauth2/groups',
  'GET /oauth2/setups',
  'GET /oauth2/auth',
  'GET /jobs',
  'GET /jobs/<jid>',
  'GET /jobs/<jid>/manifest',
  'GET /jobs/<jid>/inputsandbox',
  'GET /jobs/<jid>/outputsandbox',
  'POST /jobs',
  'DELETE /jobs/<jid>',
  'GET /filecatalogue/metadata',
  'GET /filecatalogue/directory/<directory>',
  'GET /filecatalogue/directory/<directory>/metadata',
  'GET /filecatalogue/directory/<directory>/search',
  'GET /filecatalogue/file/<file>/attributes',
  'GET /filecatalogue/file/<file>/metadata',
];

interface Route {
  name: string;
  access: { kind?: string; scope?: string } | undefined;
}

let routes: Route[];

function routesOf(controller: abstract new () => object): Route[] {
  const prototype = controller.prototype as Record<string, unknown>;
  const base = pathsOf(controller);
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name] as object;
    if (typeof handler !== 'function' || !Reflect.hasMetadata('method', handler)) return [];
    const method = RequestMethod[Reflect.getMetadata('method', handler) as number] ?? '';
    const access = (Reflect.getMetadata(ACCESS_RULE, handler) ??
      Reflect.getMetadata(ACCESS_RULE, controller)) as Route['access'];
    return base.flatMap((prefix) =>
      pathsOf(handler).map((path) => ({ name: `${method} ${join(prefix, path)}`, access })),
    );
  });
}

function pathsOf(target: object): string[] {
  const path = (Reflect.getMetadata('path', target) ?? '') as string | string[];
  return Array.isArray(path) ? path : [path];
}

function join(...parts: string[]): string {
  const words = parts.flatMap((part) => part.split('/')).filter((word) => word !== '');
  return `/${words.map((word) => word.replace(/^[:*](\w+).*$/, '<$1>')).join('/')}`;
}

describe('routes', () => {
  beforeAll(async () => {
    routes = (await controllersOfApplication()).flatMap(routesOf);
  });

  it('are seen', () => {
    expect(routes.length).toBeGreaterThanOrEqual(INTERFACE_ROUTES.length);
  });

  it.each(INTERFACE_ROUTES)('%s of the interface exists', (name) => {
    expect(routes.map((route) => route.name)).toContain(name);
  });

  it('each declare their access', () => {
    const kinds = ['bearer', 'certificate', 'worker', 'open', 'probe'];
    const without = routes.filter(({ access }) => !kinds.includes(access?.kind ?? ''));
    expect(without.map((route) => route.name)).toEqual([]);
  });

  it('are counted for their callers, all but health and metrics', () => {
    const uncounted = routes.filter(({ access }) => access?.kind === 'probe');
    const names = ['GET /health/live', 'GET /health/ready', 'GET /metrics'];
    expect(uncounted.map(({ name }) => name).sort()).toEqual(names);
  });

  it('of bearers each name a scope', () => {
    const without = routes.filter(({ access }) => access?.kind === 'bearer' && !access.scope);
    expect(without.map((route) => route.name)).toEqual([]);
  });

  it('each have their expectations in the tenant matrix, also those outside the API document', () => {
    const expected = EXPECTED.map((name) => name.replaceAll('{', '<').replaceAll('}', '>'));
    expect(routes.map(({ name }) => name).sort()).toEqual(expected.sort());
  });

  it('are defined once', () => {
    const names = routes.map((route) => route.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
