import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FullLog } from '../support/full-log.js';
import { startHostileServer, type HostileServer } from '../support/hostile-server.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { submit } from '../support/jobs.js';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;

describe('traces for a collector', () => {
  let receiver: OtlpReceiver;
  let pki: TestPki;
  let provider: HostileServer;
  let grid: Grid;
  let log: FullLog;
  const file = join(tmpdir(), `gridgate-traced-${process.pid}.yaml`);

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    pki = await createTestPki();
    provider = await startHostileServer(pki);
    const { origin } = provider;
    provider.json('/.well-known/openid-configuration', {
      issuer: origin,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      introspection_endpoint: `${origin}/introspect`,
      jwks_uri: `${origin}/jwks?tenant=secret-of-the-query`,
    });
    provider.json('/jwks', { keys: [] });
    const entry = { issuer: origin, client_id: 'me', verify: pki.ca.certPath, trust_env: false };
    await writeFile(file, JSON.stringify({ Institute: entry }));
    grid = await startGrid({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        GRID_ID_PROVIDERS: file,
      },
    });
    log = new FullLog(grid);
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([provider?.close(), pki?.remove(), receiver?.stop()]);
    await rm(file, { force: true });
  });

  function ofRequest(id: unknown): Promise<ReceivedSpan> {
    return receiver.span(
      ({ attributes }) => attributes['gridgate.request_id'] === id,
      `the span of request ${String(id)}`,
    );
  }

  it('continue the trace of the caller, name route and status, and have the statements below', async () => {
    const alice = await grid.as('alice');
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const answer = await alice.get('/jobs?maxJobs=3', { headers });
    const id = answer.headers['x-request-id'];
    const span = await ofRequest(id);
    expect(span).toEqual({
      name: 'GET /jobs',
      traceId: TRACE,
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      parentSpanId: PARENT,
      kind: SERVER,
      isError: false,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/jobs',
        'url.path': '/jobs',
        'http.response.status_code': 200,
        'gridgate.request_id': id,
        'gridgate.user': 'alice',
        'gridgate.group': 'grid_user',
        'gridgate.setup': 'Prod',
        'gridgate.client': 'certificate',
      },
    });
    const statement = await receiver.span(
      ({ parentSpanId }) => parentSpanId === span.spanId,
      'a statement below the request',
    );
    const { 'db.query.summary': summary } = statement.attributes;
    expect(statement).toMatchObject({ name: `sql ${summary}`, traceId: TRACE, kind: CLIENT });
    expect(statement.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.query.summary': expect.stringMatching(/^[\w-]+$/),
    });
    expect(await log.ofRequest(id)).toMatchObject({ traceId: TRACE, spanId: span.spanId });
    expect(receiver.resources[0]).toMatchObject({
      'service.name': 'gridgate',
      'service.version': expect.any(String),
    });
  });

  it.each([
    ['none', undefined],
    ['a broken one', 'nonsense'],
    ['zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a version that cannot be', `ff-${TRACE}-${PARENT}-01`],
    ['more than version 00 has', `00-${TRACE}-${PARENT}-01-more`],
  ])('begin where the caller sends %s', async (_what, traceparent) => {
    const headers: Record<string, string> = traceparent === undefined ? {} : { traceparent };
    const answer = await grid.anonymous.get('/health/live', { headers });
    const span = await ofRequest(answer.headers['x-request-id']);
    expect(span.traceId).not.toBe(TRACE);
    expect([undefined, '']).toContain(span.parentSpanId);
  });

  it('leave out what the caller does not sample', async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-00` };
    const unsampled = await grid.anonymous.get('/health/live', { headers });
    const sampled = await grid.anonymous.get('/health/live');
    await ofRequest(sampled.headers['x-request-id']);
    const ids = receiver.spans.map(({ attributes }) => attributes['gridgate.request_id']);
    expect(ids).not.toContain(unsampled.headers['x-request-id']);
  });

  it('mark faults, by their kind only', async () => {
    const answer = await grid.anonymous.get('/jobs/none');
    const span = await ofRequest(answer.headers['x-request-id']);
    expect([span.name, span.isError]).toEqual(['GET /jobs/:jid', false]);
    expect(span.attributes['http.response.status_code']).toBe(401);
  });

  it('show the dispatch of jobs', async () => {
    await submit(await grid.as('alice'), [
      { Executable: '/bin/true', Arguments: 'secret-argument' },
    ]);
    const span = await receiver.span(({ name }) => name === 'dispatch jobs', 'a dispatch');
    expect(span.attributes).toEqual({
      'gridgate.executor': expect.any(String),
      'gridgate.backend': 'local-process',
      'gridgate.jobs': 1,
    });
  });

  it('show the calls to identity providers, without their queries', async () => {
    const paths = ['/.well-known/openid-configuration', '/jwks'];
    for (const path of paths) {
      const span = await receiver.span(
        ({ attributes, kind }) => kind === CLIENT && attributes['url.path'] === path,
        `the call of ${path}`,
      );
      expect(span).toMatchObject({ name: 'GET localhost', isError: false });
      expect(span.attributes).toEqual({
        'http.request.method': 'GET',
        'server.address': 'localhost',
        'server.port': Number(new URL(provider.origin).port),
        'url.path': path,
        'http.response.status_code': 200,
      });
    }
  });

  it('hold no token, secret, query or argument', async () => {
    const token = await grid.token('alice', 'grid_user');
    const last = await grid.anonymous.get('/jobs', { query: { access_token: token } });
    await ofRequest(last.headers['x-request-id']);
    const secrets = [token, 'access_token', 'secret-argument', 'secret-of-the-query', 'Bearer'];
    for (const secret of secrets)
      expect([secret, receiver.text.includes(secret)]).toEqual([secret, false]);
  });

  it('cost nothing but themselves when the collector goes away', async () => {
    const away = await grid.second({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    try {
      for (let i = 0; i < 20; i += 1) {
        expect((await away.anonymous.get('/health/live')).status).toBe(200);
      }
      expect(await away.server.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await away.remove().catch(() => undefined);
    }
  });
});

describe('without a collector', () => {
  it('the SDK is not even loaded, and a bad address stops the start', () => {
    const script = `await import('./dist/src/app/server.js');
      const { Module } = await import('node:module');
      console.log(Object.keys(Module._cache).filter((name) => /opentelemetry.(sdk|exporter)/.test(name)).length);`;
    const options = { cwd: support().root, encoding: 'utf8' } as const;
    const loaded = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
    expect([loaded.stderr, loaded.stdout.trim()]).toEqual(['', '0']);
    const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' };
    const start = spawnSync(process.execPath, ['dist/src/main.js'], { ...options, env });
    expect([start.status, start.stderr]).toEqual([
      1,
      'gridgate: OTEL_EXPORTER_OTLP_ENDPOINT is not a base URL like http://collector:4318\n',
    ]);
  });
});
