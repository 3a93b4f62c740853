import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FormData } from 'undici';
import { AuditTrail } from '../support/audit-trail.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

interface Made {
  jids: number[];
  arrayId: number;
}

describe('arrays of jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let adam: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_MAX_RESCHEDULES: '1', GRID_RATE_SUBMIT: '0' } });
    [alice, adam] = [await grid.as('alice'), await grid.as('adam')];
  });
  afterAll(() => grid?.remove());

  const WAITS = { Executable: '/bin/true', Tags: ['nowhere'] };
  const PARAMETRIC = { ...WAITS, JobName: 'mc-%n', Parameters: 3 };
  const made = async (json: object, query = {}): Promise<Made> => {
    const answer = await alice.post<Made>('/jobs', { json, query });
    expect([answer.status, answer.bytes.toString()]).toEqual([200, expect.any(String)]);
    return answer.body;
  };
  const shown = async (id: number | undefined): Promise<Record<string, unknown>> =>
    (await alice.get(`/jobs/arrays/${id}`)).body;
  const refused = async (json: object, query = {}): Promise<unknown> => {
    const { status, body } = await alice.post('/jobs', { json, query });
    return [status, body.violations ?? body.code];
  };

  it('are shown with the states of their members, which name them', async () => {
    const { jids, arrayId } = await made({ ...PARAMETRIC, array: true });
    expect(jids).toHaveLength(3);
    await eventually(async () => {
      const { states } = await shown(arrayId);
      return (states as Record<string, number>)['Waiting'] === 3 || undefined;
    }, 'members to wait');
    expect(await shown(arrayId)).toEqual({
      arrayId,
      name: 'mc-%n',
      owner: 'alice',
      ownerGroup: 'grid_user',
      vo: 'vo',
      setup: 'Prod',
      submission: expect.stringMatching(/Z$/),
      total: 3,
      states: { Waiting: 3 },
    });
    const { body: job } = await alice.get(`/jobs/${jids[0]}`);
    expect(job).toMatchObject({ jid: jids[0], name: 'mc-0', arrayId });
    const { body: manifest } = await alice.get(`/jobs/${jids[0]}/manifest`);
    expect(manifest).not.toHaveProperty('array');
    const [single = 0] = await submit(alice, [WAITS]);
    expect((await alice.get(`/jobs/${single}`)).body).not.toHaveProperty('arrayId');
  });

  it('are made of every form of a body', async () => {
    const lines = `${JSON.stringify(WAITS)}\n${JSON.stringify(WAITS)}\n`;
    const form = new FormData();
    form.append('manifest', JSON.stringify({ ...WAITS, InputSandbox: ['in.txt'], array: true }));
    form.append('file', new Blob(['shared']), 'in.txt');
    const json = (text: string) => ({
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    const list = JSON.stringify([WAITS, WAITS]);
    const ways: [number, Parameters<GridClient['post']>[1]][] = [
      [2, json(`{"manifests":${list},"array":true}`)],
      [2, json(`{"array":true,"manifests":${list}}`)],
      [2, { ...json(`{"array":false,"manifests":${list}}`), query: { array: 'true' } }],
      [1, { json: { manifests: [{ ...WAITS, array: true }] } }],
      [1, { multipart: form }],
      [
        2,
        { body: lines, headers: { 'content-type': 'application/x-ndjson' }, query: { array: '1' } },
      ],
    ];
    for (const [count, options] of ways) {
      const { status, body } = await alice.post<Made>('/jobs', options);
      expect([status, body.jids?.length]).toEqual([200, count]);
      expect((await shown(body.arrayId))['total']).toBe(count);
    }
    expect(await made({ manifests: [WAITS], array: false })).not.toHaveProperty('arrayId');
    const [{ n } = { n: 0 }] = await grid.sql<{ n: number }>(
      'select count(*)::integer as n from job_arrays',
    );
    const dry = await alice.post<{ jobs: number; manifests: object[] }>('/jobs', {
      json: { ...PARAMETRIC, array: true },
      query: { dryRun: 'true' },
    });
    expect([dry.status, dry.body.jobs]).toEqual([200, 3]);
    expect(dry.body.manifests[0]).not.toHaveProperty('array');
    expect(await grid.sql('select count(*)::integer as n from job_arrays')).toEqual([{ n }]);
  });

  it('are not made of what is no array', async () => {
    const wrong = [400, [{ field: 'array', problem: 'must be true or false' }]];
    for (const array of [1, 'true', null, [], {}]) {
      expect(await refused({ ...WAITS, array })).toEqual(wrong);
      expect(await refused({ manifests: [WAITS], array })).toEqual(wrong);
      expect(await refused({ array, manifests: [WAITS] })).toEqual(wrong);
    }
    const within = 'belongs to the whole request: beside manifests, or in the query';
    expect(await refused({ manifests: [WAITS, { ...WAITS, array: true }] })).toEqual([
      400,
      [{ field: 'manifests[1].array', problem: within }],
    ]);
    const twice = await alice.post('/jobs', {
      body: `{"array":true,"manifests":[${JSON.stringify(WAITS)}],"array":true}`,
      headers: { 'content-type': 'application/json' },
    });
    expect([twice.status, twice.body.violations]).toEqual([
      400,
      [{ field: 'array', problem: 'is given twice' }],
    ]);
    expect(await refused(WAITS, { array: 'maybe' })).toEqual([
      400,
      [{ field: 'array', problem: expect.any(String) }],
    ]);
  });

  it('are one answer of an idempotency key, which another wish does not match', async () => {
    const headers = { 'idempotency-key': 'array-1' };
    const send = async (array: boolean) =>
      alice.post<Made>('/jobs', { json: { manifests: [WAITS], array }, headers });
    const first = await send(true);
    expect((await send(true)).body).toEqual(first.body);
    expect(first.body.arrayId).toEqual(expect.any(Number));
    expect([(await send(false)).status]).toEqual([422]);
  });

  it('are a filter, a key of summaries and of the order', async () => {
    const { jids, arrayId } = await made({ ...PARAMETRIC, array: true });
    const { body } = await alice.get<{ entries: number; jobs: { jid: number }[] }>('/jobs', {
      query: { arrayId, maxJobs: 2 },
    });
    expect([body.entries, body.jobs.map(({ jid }) => jid)]).toEqual([
      3,
      [...jids].reverse().slice(0, 2),
    ]);
    const counted = await alice.get('/jobs/summary', {
      query: { group: ['arrayId', 'JobType'], ArrayID: arrayId },
    });
    expect(counted.body).toEqual({ [`${arrayId}|User`]: 3 });
    const all = await alice.get<Record<string, number>>('/jobs/summary', {
      query: { group: 'arrayId' },
    });
    expect(all.body['']).toBeGreaterThan(0);
    const sorted = await alice.get<{ jobs: { arrayId?: number }[] }>('/jobs', {
      query: { sort: '-arrayId', maxJobs: 1 },
    });
    expect(sorted.body.jobs[0]?.arrayId).toBe(arrayId);
    const last = await alice.get<{ jobs: object[] }>('/jobs', { query: { sort: 'arrayId' } });
    expect(last.body.jobs[0]).not.toHaveProperty('arrayId');
    const next = /<[^>]*?(\/jobs\?[^>]*)>/.exec(String(sorted.headers['link']))?.[1];
    expect((await alice.get(next ?? '')).status).toBe(200);
    const wrong = await alice.get('/jobs', { query: { arrayId: 'x' } });
    expect([wrong.status, wrong.body.violations]).toEqual([
      400,
      [{ field: 'arrayId', problem: 'is not the id of an array' }],
    ]);
    const timeline = await alice.get('/jobs/timeline', { query: { arrayId, group: 'arrayId' } });
    expect(timeline.status).toBe(200);
  });

  it('are killed whole, and again without harm; purged they are deleted', async () => {
    const { arrayId } = await made({ ...PARAMETRIC, array: true });
    const trail = new AuditTrail(grid);
    const first = await alice.delete(`/jobs/arrays/${arrayId}`);
    expect(first.body).toEqual({ arrayId, killed: 3 });
    expect(await trail.lineOf(first, 'job.killed')).toMatchObject({
      arrayId: String(arrayId),
      killed: 3,
      purge: false,
    });
    const kill = async (query = {}) =>
      (await alice.delete(`/jobs/arrays/${arrayId}`, { query })).body;
    expect(await kill()).toEqual({ arrayId, killed: 0 });
    expect((await shown(arrayId))['states']).toEqual({ Killed: 3 });
    expect(await kill({ purge: 'true' })).toEqual({ arrayId, killed: 3 });
    expect((await shown(arrayId))['states']).toEqual({ Deleted: 3 });
  });

  it('run their failed members again, as often as a job may be rescheduled', async () => {
    const { jids, arrayId } = await made({
      manifests: [{ Executable: '/bin/true' }, { Executable: '/bin/false' }],
      array: true,
    });
    const [good = 0, bad = 0] = jids;
    await awaitFinal(alice, jids);
    expect((await shown(arrayId))['states']).toEqual({ Done: 1, Failed: 1 });
    const retry = async () => (await alice.post(`/jobs/arrays/${arrayId}/retry`)).body;
    expect(await retry()).toEqual({ arrayId, retried: 1, refused: 0, left: 0 });
    await awaitFinal(alice, jids);
    expect(await retry()).toEqual({ arrayId, retried: 0, refused: 1, left: 0 });
    const counts = await Promise.all(
      [good, bad].map(async (jid) => (await alice.get(`/jobs/${jid}`)).body.reschedules),
    );
    expect(counts).toEqual([0, 1]);
  });

  it.each(['0', '-1', 'x', '99999999999999999999', '9223372036854775807', '1e3'])(
    'of id %s are missing',
    async (id) => {
      for (const call of [
        () => alice.get(`/jobs/arrays/${id}`),
        () => alice.delete(`/jobs/arrays/${id}`),
        () => alice.post(`/jobs/arrays/${id}/retry`),
      ]) {
        const { status, body } = await call();
        expect([status, body.code]).toEqual([404, 'job.not-found']);
      }
    },
  );

  it('of others are controlled by an administrator', async () => {
    const { arrayId } = await made({ ...PARAMETRIC, array: true });
    const { status, body } = await adam.delete(`/jobs/arrays/${arrayId}`);
    expect([status, body]).toEqual([200, { arrayId, killed: 3 }]);
  });
});
