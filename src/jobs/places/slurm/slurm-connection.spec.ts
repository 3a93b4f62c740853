import { createServer, type IncomingMessage, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { SlurmRestApi } from './slurm-rest.js';
import { SlurmConnection } from './slurm-connection.js';

/** How requests look on the wire; what Slurm makes of them is tried on a real one (`slurm-accounts.flow-spec.ts`). */
describe('SlurmConnection', () => {
  let directory: string;
  let server: Server;
  let answer: (request: IncomingMessage) => [number, object];
  const seen: IncomingMessage[] = [];
  const time = { ms: Date.parse('2026-01-02T03:04:05Z') };
  const connections: SlurmConnection[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slurm-connection-'));
    await writeFile(join(directory, 'key'), 'k'.repeat(32));
    answer = () => [200, { jobs: [], errors: [] }];
    seen.length = 0;
    server = createServer((request, response) => {
      seen.push(request);
      const [status, body] = answer(request);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()));
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  const open = (settings: { token?: string; keyFile?: string }): SlurmRestApi => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clock = { now: () => time.ms };
    const connection = new SlurmConnection({ url, timeoutMs: 25_000, clock, ...settings });
    connections.push(connection);
    return new SlurmRestApi(connection, 'griduser');
  };
  const names = () => seen.map(({ headers }) => headers['x-slurm-user-name']);
  const subjects = () =>
    seen.map(({ headers }) => decodeJwt(String(headers['x-slurm-user-token']))['sun']);

  it('speaks in the name of the account that is told, with a token for it', async () => {
    const api = open({ keyFile: join(directory, 'key') });
    await api.jobs();
    await api.as('jane').jobs();
    await api.as('john').cancel(40, 3);
    expect(names()).toEqual(['griduser', 'jane', 'john']);
    expect(subjects()).toEqual(['griduser', 'jane', 'john']);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /slurm/v0.0.38/jobs',
      'GET /slurm/v0.0.38/jobs',
      'DELETE /slurm/v0.0.38/job/40_3',
    ]);
  });

  it('names the account beside a token that was given', async () => {
    await open({ token: 'of-slurm' }).as('jane').jobs();
    expect(names()).toEqual(['jane']);
    expect(seen[0]?.headers['x-slurm-user-token']).toBe('of-slurm');
  });

  it.each([
    ['seconds', 1_796_378_400, 1_796_378_400_000],
    ['an object', { set: true, infinite: false, number: 1_796_378_400 }, 1_796_378_400_000],
    ['an object that is not set', { set: false, infinite: false, number: 1 }, undefined],
    ['an object without an end', { set: true, infinite: true, number: 1 }, undefined],
    ['0', 0, undefined],
    ['the number of no value', 0xff_ff_ff_fe, undefined],
    ['nothing', undefined, undefined],
  ])('reads when a job is to start from %s', async (_name, start_time, startMs) => {
    const job = { job_id: 7, job_state: 'PENDING', start_time };
    const reasons = { state_reason: 'ReqNodeNotAvail', state_description: '' };
    answer = () => [200, { jobs: [{ ...job, ...reasons }], errors: [] }];
    expect(await open({ token: 'x' }).job(7)).toEqual([
      {
        ...{ jobId: 7, arrayId: 7, index: undefined, waitingIndices: '', state: 'PENDING' },
        ...{ reason: 'ReqNodeNotAvail', comment: '', user: '', uid: -1, partition: '', node: '' },
        startMs,
      },
    ]);
  });

  it('reads why a job waits as squeue tells it', async () => {
    const description = 'ReqNodeNotAvail, UnavailableNodes:n1';
    const job = { state_reason: 'ReqNodeNotAvail', state_description: description };
    answer = () => [200, { jobs: [job], errors: [] }];
    expect(await open({ token: 'x' }).job(7)).toMatchObject([{ reason: description }]);
  });

  it('remembers which account got no answer, until it gets one', async () => {
    answer = ({ headers }) =>
      headers['x-slurm-user-name'] === 'jane'
        ? [500, { errors: [{ error: 'Unspecified error', error_number: -1 }] }]
        : [200, { jobs: [], errors: [] }];
    const api = open({ token: 'x' });
    await expect(api.as('jane').jobs()).rejects.toMatchObject({ fault: 'away' });
    await api.as('john').jobs();
    expect([api.as('jane').isFailing, api.as('john').isFailing]).toEqual([true, false]);
    answer = () => [200, { jobs: [], errors: [] }];
    await api.as('jane').jobs();
    expect(api.as('jane').isFailing).toBe(false);
  });

  it('takes an accounting that is away for no fault of the controller', async () => {
    const api = open({ token: 'x' });
    answer = () => [500, { errors: [{ error: 'Unspecified error', error_number: -1 }] }];
    const of = { jobId: 43, arrayId: 40, index: 1, account: 'jane' };
    await expect(api.as('jane').use(of)).rejects.toMatchObject({ fault: 'away' });
    expect([api.lastFaultMs, api.as('jane').isFailing]).toEqual([0, false]);
    answer = () => [404, {}];
    await expect(api.as('jane').use(of)).rejects.toMatchObject({ fault: 'refused' });
    expect(seen[0]?.url).toBe('/slurmdb/v0.0.38/job/43');
    answer = () => [500, { errors: [{ error: 'Unspecified error', error_number: -1 }] }];
    await expect(api.jobs()).rejects.toMatchObject({ fault: 'away' });
    expect(api.lastFaultMs).toBe(time.ms);
  });
});
