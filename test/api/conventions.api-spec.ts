import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DpopCaller, makeKey } from '../support/applications.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;

beforeAll(async () => {
  grid = await startGrid();
});

afterAll(async () => {
  await grid?.remove();
});

describe('every answer', () => {
  it('carries a request id, security headers and no-store', async () => {
    const answer = await grid.anonymous.get('/health/live');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: 'live' });
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    // of localhost, whose other ports belong to others
    expect(answer.headers).not.toHaveProperty('strict-transport-security');
  });

  it('names no software', async () => {
    const { headers } = await grid.anonymous.get('/health/live');
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['server']).toBeUndefined();
  });
});

describe('errors', () => {
  it('of an unknown path are 404 problems', async () => {
    const { status, headers, body } = await grid.anonymous.get('/nowhere');
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toEqual({
      type: 'urn:gridgate:problem:route.not-found',
      title: 'No such resource',
      status: 404,
      detail: 'There is nothing at this address',
      code: 'route.not-found',
      instance: `urn:gridgate:request:${String(headers['x-request-id'])}`,
    });
  });

  it('of a wrong method are 405 with Allow', async () => {
    const { status, headers, body } = await grid.anonymous.put('/jobs');
    expect(status).toBe(405);
    expect(headers['allow']).toBe('DELETE, GET, HEAD, POST');
    expect(body).toMatchObject({ code: 'route.method-not-allowed', status: 405 });
  });

  it('below /oauth2 carry error and error_description', async () => {
    const { status, headers, body } = await grid.anonymous.get('/oauth2/nothing');
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toMatchObject({
      error: 'invalid_request',
      error_description: 'There is nothing at this address',
      code: 'route.not-found',
    });
  });

  it.each<[string, boolean]>([
    ['/OAuth2/Token?x=1', true],
    ['/OAUTH2/revoke/', true],
    ['/oauth2?x=1', true],
    ['/oauth2nothing', false],
    ['/oauth2-nothing/oauth2/token', false],
  ])('of %s carry error: %p', async (path, isOAuth) => {
    const { body } = await grid.anonymous.get(path);
    expect(body).toMatchObject({ code: expect.any(String) });
    expect('error' in body).toBe(isOAuth);
  });

  it.each([
    [413, `{"a":[${'0,'.repeat(20_000)}0]}`, 'The body has more than 20000 values'],
    [400, `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'The body is nested deeper than 64 levels'],
  ])('of JSON that is dear to read are %i', async (status, text, detail) => {
    const alice = await grid.as('alice');
    const headers = { 'content-type': 'application/json' };
    const path = `/filecatalogue/file/${Buffer.from('/vo/a/f1').toString('base64url')}/metadata`;
    for (const [method, target] of [
      ['PUT', path],
      ['POST', '/jobs'],
    ] as const) {
      const answer = await alice.call(method, target, { headers, body: text });
      expect(answer).toMatchObject({ status, body: { status, detail } });
    }
  });

  it('of a form or query of very many values are 413, and name a few faults of many', async () => {
    const alice = await grid.as('alice');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const many = (count: number): string =>
      Array.from({ length: count }, (_, index) => `${index.toString(36)}=`).join('&');
    const form = await alice.post('/jobs', { headers, body: many(20_001) });
    expect(form).toMatchObject({
      status: 413,
      body: {
        code: 'request.too-large',
        detail: 'More than 20000 values were sent',
        limit: 20_000,
      },
    });
    const unknown = await alice.get(`/jobs/summary?${many(4_000)}`);
    expect(unknown).toMatchObject({ status: 400, body: { code: 'request.unknown-parameter' } });
    expect(unknown.body.violations).toHaveLength(100);
    expect(unknown.bytes.length).toBeLessThan(10_000);
  });

  it('of a path that cannot be decoded are 400', async () => {
    const { status, body } = await grid.anonymous.get('/jobs/%ff');
    expect({ status, code: (body as { code: string }).code }).toEqual({
      status: 400,
      code: 'request.invalid',
    });
  });
});

describe('GET /health/ready', () => {
  it('answers 200 with the state of each part', async () => {
    const { status, body } = await grid.anonymous.get('/health/ready');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', signingKey: 'ok', home: 'ok', sandboxes: 'ok' },
    });
  });
});

describe('GET /metrics', () => {
  it('counts requests by route and status', async () => {
    await grid.anonymous.get('/health/live');
    const { status, headers, body } = await grid.anonymous.get<string>('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(body).toMatch(
      /gridgate_http_requests_total\{method="GET",route="\/health\/live",status="200"\} \d+/,
    );
  });
});

describe('GET /docs', () => {
  it('is Swagger UI with a content security policy', async () => {
    const { status, headers, body } = await grid.anonymous.get<string>('/docs');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
    expect(body).toContain('swagger-ui');
  });

  it.each(['/docs/', '/docs/index.html'])('is where %s leads', async (path) => {
    const { status, headers } = await grid.anonymous.get(path);
    expect([status, headers['location']]).toEqual([308, '/docs']);
  });

  it('has the OpenAPI 3.1 document beside it', async () => {
    const { status, body } = await grid.anonymous.get<{ openapi: string; paths: object }>(
      '/docs/openapi.json',
    );
    expect(status).toBe(200);
    expect(body.openapi).toBe('3.1.0');
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(['/jobs', '/oauth2/token']));
  });
});

describe('the log', () => {
  it('has one JSON line for a request and no token in it', async () => {
    await grid.anonymous.get('/jobs', { query: { access_token: 'very-secret-token' } });
    const isOurs = (line: Record<string, unknown>): boolean =>
      line['path'] === '/jobs' && line['method'] === 'GET';
    const found = await eventually(() => {
      const lines = grid.server.log().split('\n').slice(0, -1);
      const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      return Promise.resolve(requests.find(isOurs));
    }, 'the log line of the request');
    expect(found).toMatchObject({ level: 'info', status: 401, requestId: expect.any(String) });
    expect(grid.server.log()).not.toContain('very-secret-token');
  });

  it('lets no route with a parameter take the methods that a plain path does not have', async () => {
    const alice = await grid.as('alice');
    for (const method of ['DELETE', 'OPTIONS', 'POST']) {
      for (const path of ['/jobs/summary', '/jobs/Summary/', '/jobs/summary?jid=1']) {
        const { status, headers, body } = await alice.call(method, path);
        expect([method, path, status, headers['allow'], body.code]).toEqual([
          ...[method, path, 405, 'GET, HEAD', 'route.method-not-allowed'],
        ]);
      }
    }
    expect((await alice.get('/jobs/summary')).status).toBe(200);
  });

  it('names members of a body as they were sent', async () => {
    const alice = await grid.as('alice');
    const place = (path: string) => Buffer.from(path).toString('base64url');
    const bad = await alice.post(`/filecatalogue/directory/${place('/vo/named')}`, {
      json: { Mode: 512 },
    });
    expect([bad.status, bad.body.violations[0].field]).toEqual([400, 'Mode']);
    const json = { Size: 1, Replicas: { 'SE-NONE': {} } };
    const file = await alice.put(`/filecatalogue/file/${place('/vo/named/f')}`, { json });
    const violations = [{ field: 'Replicas', problem: 'SE-NONE is not known' }];
    expect([file.status, file.body.violations]).toEqual([400, violations]);
  });
});

describe('a request that names the whole address (RFC 9112 §3.2.2)', () => {
  it('is served like any other, also with a DPoP proof', async () => {
    const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const form = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const { body } = await caller.call('POST', '/oauth2/token', { form });
    const token = body.access_token as string;
    const call = request(grid.url, {
      ...{ ca: grid.ca, agent: false, path: `${grid.url}/jobs?maxJobs=1` },
      headers: {
        authorization: `DPoP ${token}`,
        dpop: await caller.proof('GET', '/jobs', token),
      },
    }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const seen = JSON.parse(await text(answer)) as object;
    expect([answer.statusCode, Object.keys(seen)]).toEqual([200, ['entries', 'jobs']]);
  });
});
