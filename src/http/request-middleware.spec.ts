import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Server } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import express, { type Request } from 'express';
import { readConfig } from '#src/config/env.js';
import { Readiness } from '#src/runtime/readiness.js';
import { Metrics } from '#src/runtime/metrics.js';
import type { Logger } from '#src/runtime/logger.js';
import type { Tracing } from '#src/runtime/tracing.js';
import { setRequestId } from './messages.js';
import { ProblemFilter } from './problem.filter.js';
import { requestMiddleware, RequestsUnderWay, originForm } from './request-middleware.js';
import type { RouteTable } from './route-table.js';

let server: Server | undefined;
afterEach(() => void server?.close());

/** A server whose only handler is given. */
async function serve(
  handler: express.RequestHandler,
  environment: Record<string, string> = {},
): Promise<number> {
  const quiet = (): void => undefined;
  const logger = { info: quiet, warn: quiet, error: quiet, debug: quiet } as unknown as Logger;
  const readiness = new Readiness();
  readiness.start();
  const app = express();
  app.use(
    requestMiddleware({
      config: readConfig({ GRID_REQUEST_TIMEOUT: '1', ...environment }),
      logger,
      metrics: new Metrics(),
      readiness,
      tracing: { request: () => undefined } as unknown as Tracing,
      problems: new ProblemFilter(logger, {} as RouteTable, {
        publicUrl: 'https://grid.example.org',
      }),
      underWay: new RequestsUnderWay(),
    }),
  );
  app.use(handler);
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('ends a request whose body nobody takes any more, and tells whoever waits for its end', async () => {
  let onClose: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (onClose = resolve));
  const port = await serve((request, response) => {
    request.pause();
    response.once('close', onClose);
  });
  const socket = connect(port, '127.0.0.1');
  const answer = text(socket);
  const head = ['POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 100000000'];
  socket.write(`${head.join('\r\n')}\r\n\r\n${'x'.repeat(1_000)}`);
  const [status = '', ...rest] = (await answer).split('\r\n');
  expect(status).toBe('HTTP/1.1 503 Service Unavailable');
  expect(rest).toEqual(expect.arrayContaining(['Retry-After: 2', 'Connection: close']));
  expect(JSON.parse(rest.at(-1) ?? '')).toMatchObject({
    code: 'service.unavailable',
    detail: 'The request made no progress',
  });
  await closed;
});

it('leaves alone a body that goes on arriving for longer than that', async () => {
  const port = await serve((request, response) => {
    request.resume().once('end', () => response.end('whole'));
  });
  const socket = connect(port, '127.0.0.1');
  const answer = text(socket);
  const lines = ['POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 15', 'Connection: close'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  for (let sent = 0; sent < 15; sent += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write('x');
  }
  expect((await answer).split('\r\n\r\n')[1]).toContain('whole');
});

const AWAY = { GRID_PUBLIC_URL: 'https://grid.example.org' };
const CERTIFICATE = { GRID_TLS_CERT: '/tls/server.crt', GRID_TLS_KEY: '/tls/server.key' };
it.each<[string, Record<string, string>, string | null]>([
  ['localhost', {}, null],
  ['localhost with a certificate of its own', CERTIFICATE, null],
  ['an address', { GRID_PUBLIC_URL: 'https://127.0.0.1:8443', ...CERTIFICATE }, null],
  ['a name below localhost', { GRID_PUBLIC_URL: 'https://grid.localhost', ...CERTIFICATE }, null],
  ['a public name with the development CA', AWAY, null],
  ['a public name', { ...AWAY, ...CERTIFICATE }, 'max-age=31536000'],
  [
    'a public name with the development CA for people',
    { ...AWAY, ...CERTIFICATE, GRID_DEVELOPMENT_CA: 'true' },
    'max-age=31536000',
  ],
  ['a public name of a load balancer', { ...AWAY, GRID_TLS: 'off' }, 'max-age=31536000'],
])('%s: Strict-Transport-Security', async (_name, environment, expected) => {
  const port = await serve((_request, response) => void response.end(), environment);
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  expect(headers.get('strict-transport-security')).toBe(expected);
});

describe('the target of a request', () => {
  it.each([
    ['/jobs?maxJobs=1', '/jobs?maxJobs=1'],
    ['//jobs', '//jobs'],
    ['https://grid.example/jobs?maxJobs=1', '/jobs?maxJobs=1'],
    ['HTTP://user@other.example:80/a?b=https://c/d', '/a?b=https://c/d'],
    ['https://grid.example', '/'],
    ['https://grid.example?a=b', '/?a=b'],
    ['/jobs?next=https://grid.example/jobs', '/jobs?next=https://grid.example/jobs'],
    ['*', '*'],
    ['ftp://grid.example/jobs', 'ftp://grid.example/jobs'],
  ])('%s is %s', (target, expected) => {
    expect(originForm(target)).toBe(expected);
  });
});

function request(method: string, path: string, id: string): Request {
  const made = { method, originalUrl: path };
  setRequestId(made as Request, id);
  return made as Request;
}

describe('the requests under way', () => {
  it('are named without query, and long paths by their beginning', () => {
    const underWay = new RequestsUnderWay();
    const long = `/${'a'.repeat(30_000)}`;
    underWay.begin(request('GET', `${long}?access_token=secret`, 'r1'));
    underWay.begin(request('GET', '/short?access_token=secret', 'r2'));
    const token = ['eyJhbGciOiJFUzI1NiJ9', 'c'.repeat(500), 's'.repeat(500)].join('.');
    underWay.begin(request('GET', `/jobs/${token}`, 'r3'));
    expect(underWay.names()).toEqual([
      `GET ${long.slice(0, 256)}… (30001 characters) r1`,
      'GET /short r2',
      'GET /jobs/[hidden] r3',
    ]);
  });

  it('are twenty names at most', () => {
    const underWay = new RequestsUnderWay();
    for (let index = 0; index < 50; index += 1) underWay.begin(request('GET', '/', `r${index}`));
    expect(underWay.names()).toHaveLength(20);
  });
});
