import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '#src/runtime/index.js';
import { isAway } from '#src/jobs/run/index.js';
import { Backoff } from './retry.js';
import { RefusedError, WorkerGoneError } from './worker-link.js';
import { WorkerSession } from './worker-session.js';
import { Problem } from '#src/kernel/index.js';

let directory: string;
let server: Server;
let session: WorkerSession;
let answer: (response: ServerResponse, path: string) => void;

function problem(status: number, code: string): typeof answer {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify({ status, code, detail: 'said' }));
  };
}

function page(status: number, text = '<html>'): typeof answer {
  return (response) => response.writeHead(status, { 'Content-Type': 'text/html' }).end(text);
}

/** What a request to the service ends with. */
async function fault(): Promise<unknown> {
  return session.json('POST', '/claims', { json: {} }).then(
    () => 'an answer',
    (error: unknown) => error,
  );
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gridgate-session-'));
  answer = (response) => response.end('{"id":"w","token":"t","lease_seconds":90}');
  server = createServer((request, response) => {
    request.resume().on('end', () => answer(response, request.url ?? ''));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  session = await WorkerSession.open({
    ...{ directory, server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    ...{
      site: 'S',
      secret: 's',
      words: { name: 'n', version: '1', facts: {} },
      logger: createLogger('fatal'),
    },
    signal: new AbortController().signal,
  });
});
afterAll(async () => {
  await session.close();
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

describe('a worker that the service knows', () => {
  it.each([
    ['a page of a proxy, though with success', page(200)],
    ['no JSON object', page(200, 'null')],
    ['JSON that is cut', page(200, '{"runs":[')],
    ['a redirection', page(302)],
    ['404 of a proxy', page(404)],
    ['404 of a proxy in JSON', page(404, '{"code":404}')],
    ['403 of a proxy', page(403)],
    ['401 of a proxy', page(401)],
    ['502 of a proxy', page(502)],
    ['a service without workers', problem(404, 'route.not-found')],
    ['a body that came too slowly', problem(408, 'request.timeout')],
    ['a service that is busy', problem(429, 'rate.limited')],
    ['an answer that is cut', (response: ServerResponse) => response.destroy()],
  ])('waits at %s', async (_, given) => {
    answer = given;
    expect(isAway(await fault())).toBe(true);
  });

  it.each([
    ['409 of the service', problem(409, 'worker.claim-outdated')],
    ['404 of the service for a run', problem(404, 'job.not-found')],
    ['413 of a proxy', page(413)],
  ])('is refused by %s', async (_, given) => {
    answer = given;
    expect(await fault()).toBeInstanceOf(RefusedError);
  });

  it('waits for no answer that takes longer than it may', async () => {
    answer = () => undefined;
    const options = { json: {}, silenceSeconds: 0.2 };
    expect(isAway(await session.json('POST', '/claims', options).catch((e: unknown) => e))).toBe(
      true,
    );
  });

  it('is gone when the service says so, to its token, too', async () => {
    answer = problem(404, 'worker.not-found');
    expect(await fault()).toBeInstanceOf(WorkerGoneError);
    answer = (response, path) =>
      path.endsWith('/token')
        ? problem(404, 'worker.not-found')(response, path)
        : problem(401, 'auth.token-invalid')(response, path);
    expect(await fault()).toBeInstanceOf(WorkerGoneError);
  });
});

describe('a pause', () => {
  it.each([1e12, -1e12])('has bounds, whatever is wanted: %d s', (retryAfterSeconds) => {
    const pause = new Backoff().next(Problem.unavailable('x', { retryAfterSeconds }));
    expect(pause).toBeGreaterThan(0);
    expect(pause).toBeLessThan(301_000);
  });
});
