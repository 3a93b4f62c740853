import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '../support/ports.mjs';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { eventually, GridClient, startGrid, type Grid } from '../support/testbed.js';

const MARK = { accept: 'text/event-stream' };

/** An answer that goes on; what has come of it so far. */
class Followed {
  end: 'open' | 'ended' | 'cut' = 'open';

  constructor(
    readonly status: number,
    readonly headers: Record<string, unknown>,
    private readonly body: Readable,
    private readonly pieces: Buffer[] = [],
  ) {
    body.on('data', (bytes: Buffer) => this.pieces.push(bytes));
    body.on('end', () => (this.end = 'ended'));
    body.on('error', () => (this.end = 'cut'));
  }

  /** Of all pieces together: a character may come in two. */
  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  async until(what: string): Promise<void> {
    await eventually(() => Promise.resolve(this.text.includes(what)), `${what} in ${this.text}`);
  }

  async untilEnd(): Promise<string> {
    await eventually(() => Promise.resolve(this.end !== 'open'), 'the end of the answer');
    return this.end;
  }

  /** Events with their data, without comments. */
  get events(): [string, unknown][] {
    const blocks = this.text.split('\n\n').filter((block) => block.includes('event: '));
    return blocks.map((block) => [
      /^event: (.*)$/m.exec(block)?.[1] ?? '',
      JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
    ]);
  }

  /** All the text of `output` events. */
  get output(): string {
    const texts = this.events.filter(([name]) => name === 'output');
    return texts.map(([, data]) => (data as { text: string }).text).join('');
  }

  leave(): void {
    this.body.destroy();
  }
}

describe('GET /jobs/<jid>/output/<name>', () => {
  let grid: Grid;
  let second: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let agent: Agent;
  let outside: string;
  let elsewhere: string;
  let clients: Map<string, GridClient>;
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'grid-outside-'));
    chmodSync(outside, 0o777);
    const env = {
      GRID_SANDBOX_STORE: join(outside, 'sandboxes'),
      GRID_LOCAL_SLOTS: '4',
      GRID_LOCAL_BINDS: `${outside}:rw`,
      GRID_CALLER_FOLLOWS: '3',
    };
    grid = await startGrid({ env });
    const [port = 0] = await freePorts(1);
    second = await grid.second({
      GRID_PUBLIC_URL: grid.url,
      GRID_PORT: String(port),
      GRID_ROLE: 'api',
    });
    elsewhere = `https://localhost:${port}`;
    alice = await grid.as('alice');
    bob = await grid.as('bob');
    agent = new Agent({ connect: { ca: grid.ca } });
    clients = new Map([
      ['the instance that runs it', alice],
      ['another instance', new GridClient(elsewhere, agent, alice.token)],
    ]);
  });
  afterAll(async () => {
    await agent?.destroy();
    await second?.remove();
    await grid?.remove();
    await rm(outside, { recursive: true, force: true });
  });

  const follow = async (
    client: GridClient,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Followed> => {
    const answer = await request(`${client.url}${path}?follow=true`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${client.token}`, ...headers },
    });
    return new Followed(answer.statusCode, answer.headers, answer.body);
  };

  /** A job that goes from step to step when it is told. */
  const stepping = async (steps: string[], more: object = {}) => {
    const mark = join(outside, `step-${Math.random().toString(36).slice(2)}`);
    const wait = (step: number): string => `while [ ! -e ${mark}.${step} ]; do sleep 0.02; done`;
    const script = steps.map((step, index) => (index > 0 ? `${wait(index)}\n${step}` : step));
    const manifest = { Executable: '/bin/sh', Arguments: ['-c', script.join('\n')], ...more };
    const [jid = 0] = await submit(alice, [manifest]);
    let at = 0;
    const next = (): void => writeFileSync(`${mark}.${(at += 1)}`, '');
    return { jid, next, path: `/jobs/${jid}/output` };
  };
  const written = (client: GridClient, path: string, text: string) =>
    eventually(async () => (await client.get(path)).bytes.toString() === text, `${text} there`);

  it.each(['the instance that runs it', 'another instance'])(
    'gives parts of files of a running job at %s, and nothing but its output',
    async (where) => {
      const client = clients.get(where) as GridClient;
      const { jid, next, path } = await stepping(
        [
          'printf 0123456789; printf oops >&2; mkdir d; printf log >d/a.log; printf x >private; ln -s /etc/passwd b.log; mkfifo c.log',
          'true',
        ],
        { OutputSandbox: ['d', '*.log'] },
      );
      await written(client, `${path}/d/a.log`, 'log');
      const whole = await client.get(`${path}/std.out`);
      expect([whole.status, whole.bytes.toString()]).toEqual([200, '0123456789']);
      expect(whole.headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="std.out"',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'accept-ranges': 'bytes',
        'content-length': '10',
        etag: expect.stringMatching(/^W\/"1\./),
      });
      expect((await client.get(`${path}/std.err`)).bytes.toString()).toBe('oops');
      const range = (value: string, headers: Record<string, string> = {}) =>
        client.get(`${path}/std.out`, { headers: { range: value, ...headers } });
      const part = await range('bytes=2-4');
      expect([part.status, part.headers['content-range'], part.bytes.toString()]).toEqual([
        206,
        'bytes 2-4/10',
        '234',
      ]);
      expect((await range('bytes=-3')).bytes.toString()).toBe('789');
      const outsideOfIt = await range('bytes=10-');
      expect([outsideOfIt.status, outsideOfIt.headers['content-range'], outsideOfIt.body]).toEqual([
        416,
        'bytes */10',
        expect.objectContaining({ code: 'request.range-not-satisfiable' }),
      ]);
      const tag = String(whole.headers['etag']);
      expect((await range('bytes=2-4', { 'if-range': tag })).status).toBe(200);
      const known = await client.get(`${path}/std.out`, { headers: { 'if-none-match': tag } });
      expect([known.status, known.bytes.length]).toEqual([304, 0]);
      const head = await client.head(`${path}/std.out`);
      expect([head.status, head.headers['content-length']]).toEqual([200, '10']);
      for (const name of ['private', 'b.log', 'c.log', 'd', 'none.log', 'd%2F..%2Fprivate']) {
        const answer = await client.get(`${path}/${name}`);
        expect([name, answer.status, answer.body.code]).toEqual([name, 404, 'job.no-such-file']);
      }
      next();
      await awaitFinal(alice, [jid]);
      const ended = await client.get(`${path}/d/a.log`, { headers: { range: 'bytes=1-' } });
      expect([ended.status, ended.bytes.toString(), ended.headers['etag']]).toEqual([
        206,
        'og',
        expect.stringMatching(/^"[0-9a-f]{64}-\d+"$/),
      ]);
      // It did not give its standard output back.
      expect((await client.get(`${path}/std.out`)).body.code).toBe('job.no-such-file');
    },
  );

  it.each(['the instance that runs it', 'another instance'])(
    'follows at %s what comes until the job ends, as bytes and as events',
    async (where) => {
      const client = clients.get(where) as GridClient;
      const steps = ["printf 'one\\n'", "printf '\\342\\202'", "printf '\\254 two\\n'", 'true'];
      const { jid, next, path } = await stepping(steps);
      const name = `${path}/std.out`;
      const bytes = await follow(client, name);
      const events = await follow(client, name, MARK);
      expect([
        bytes.status,
        bytes.headers['content-type'],
        bytes.headers['transfer-encoding'],
      ]).toEqual([200, 'application/octet-stream', 'chunked']);
      expect([
        events.status,
        events.headers['content-type'],
        events.headers['cache-control'],
      ]).toEqual([200, 'text/event-stream', 'no-store']);
      await bytes.until('one\n');
      await events.until('one');
      next();
      await written(alice, name, 'one\n\ufffd');
      next();
      await events.until('two');
      const resumed = await follow(client, name, { ...MARK, 'last-event-id': '1.4' });
      await resumed.until('two');
      expect(resumed.output).toBe('€ two\n');
      next();
      expect([await bytes.untilEnd(), bytes.text]).toEqual(['ended', 'one\n€ two\n']);
      expect([await events.untilEnd(), events.output]).toEqual(['ended', 'one\n€ two\n']);
      expect(events.text).toContain('id: 1.4\nevent: output\ndata: {"text":"one\\n"}\n\n');
      expect(events.events.at(-1)).toEqual(['end', { reason: 'job ended', status: 'Done' }]);
      expect(await resumed.untilEnd()).toBe('ended');
      // Of an ended job: all of it at once.
      const late = await follow(client, name, MARK);
      expect([await late.untilEnd(), late.output]).toEqual(['ended', 'one\n€ two\n']);
      // Behind its end, and of another run: from the beginning, and said so.
      for (const id of ['1.13', '2.4']) {
        const anew = await follow(client, name, { ...MARK, 'last-event-id': id });
        expect([await anew.untilEnd(), anew.events]).toEqual([
          'ended',
          [
            ['restart', { attempt: 1 }],
            ['output', { text: 'one\n€ two\n' }],
            ['end', { reason: 'job ended', status: 'Done' }],
          ],
        ]);
      }
      const plain = await follow(client, name);
      expect([await plain.untilEnd(), plain.text, plain.headers['content-length']]).toEqual([
        'ended',
        'one\n€ two\n',
        '12',
      ]);
      expect((await alice.get(`/jobs/${jid}/outputsandbox/files/std.out`)).bytes.toString()).toBe(
        'one\n€ two\n',
      );
    },
  );

  it('waits for a job that has not begun, and begins anew when the job does', async () => {
    const { jid, path } = await stepping(['echo ran'], { Tags: ['nowhere'] });
    const answer = await alice.get(`${path}/std.out`);
    expect([answer.status, answer.body]).toEqual([
      409,
      expect.objectContaining({
        code: 'job.state-conflict',
        detail: expect.stringContaining('it has written nothing yet'),
      }),
    ]);
    const waiting = await follow(alice, `${path}/std.out`, MARK);
    await grid.sql(`update jobs set tags = '{}' where jid = $1`, [jid]);
    expect([await waiting.untilEnd(), waiting.events]).toEqual([
      'ended',
      [
        ['output', { text: 'ran\n' }],
        ['end', { reason: 'job ended', status: 'Done' }],
      ],
    ]);
    const truncating = await stepping(['echo first >a.log', 'echo 2nd >a.log', 'true'], {
      OutputSandbox: ['a.log'],
    });
    const log = await follow(alice, `${truncating.path}/a.log`, MARK);
    await log.until('first');
    truncating.next();
    await log.until('2nd');
    truncating.next();
    expect([await log.untilEnd(), log.events]).toEqual([
      'ended',
      [
        ['output', { text: 'first\n' }],
        ['restart', { attempt: 1 }],
        ['output', { text: '2nd\n' }],
        ['end', { reason: 'job ended', status: 'Done' }],
      ],
    ]);
  });

  it('ends with the token, and with the kill', async () => {
    const { jid, path } = await stepping(['echo begun; sleep 600']);
    await awaitStatus(alice, jid, ['Running']);
    const token = await grid.token('alice', 'grid_user');
    const passing = grid.bearer(token);
    const [events, bytes] = [
      await follow(passing, `${path}/std.out`, MARK),
      await follow(passing, `${path}/std.out`),
    ];
    await events.until('begun');
    await bytes.until('begun');
    const revoked = await passing.post('/oauth2/revoke', { form: { token } });
    expect(revoked.status).toBe(200);
    expect([await events.untilEnd(), await bytes.untilEnd()]).toEqual(['ended', 'cut']);
    expect(events.events.at(-1)).toEqual(['end', { reason: 'not allowed any more' }]);
    const killed = await follow(alice, `${path}/std.out`, MARK);
    await killed.until('begun');
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    expect([await killed.untilEnd(), killed.events.at(-1)]).toEqual([
      'ended',
      ['end', { reason: 'job ended', status: 'Killed' }],
    ]);
  });

  it('refuses strangers, bad questions, and more at once than a user may follow', async () => {
    const { jid, path } = await stepping(['echo begun; sleep 600']);
    await written(alice, `${path}/std.out`, 'begun\n');
    expect((await bob.get(`${path}/std.out`)).body.code).toBe('job.forbidden');
    expect((await grid.anonymous.get(`${path}/std.out`)).status).toBe(401);
    expect((await alice.get('/jobs/4242424242/output/std.out')).body.code).toBe('job.not-found');
    expect((await alice.get(`${path}/std.out?follow=perhaps`)).status).toBe(400);
    expect((await alice.get(`${path}/std.out?from=3`)).status).toBe(400);
    const headers = { ...MARK, 'last-event-id': 'garbage' };
    const odd = await alice.get(`${path}/std.out?follow=true`, { headers });
    expect([odd.status, odd.body.detail]).toEqual([
      400,
      'Last-Event-ID: is not a position of an output',
    ]);
    const head = await alice.head(`${path}/std.out?follow=true`);
    expect([head.status, head.headers['content-length'], head.headers['accept-ranges']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    const open = await Promise.all([1, 2, 3].map(() => follow(alice, `${path}/std.out`)));
    const refused = await alice.get(`${path}/std.out?follow=true`);
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
      429,
      'rate.limited',
      '5',
    ]);
    open[0]?.leave();
    const another = await eventually(async () => {
      const followed = await follow(alice, `${path}/std.out`);
      return followed.status === 200 && followed;
    }, 'a place');
    await another.until('begun');
    for (const followed of [...open, another]) followed.leave();
    await alice.delete(`/jobs/${jid}`);
    await awaitFinal(alice, [jid]);
  });

  it('breaks off when its instance stops, so that others go on', async () => {
    const { jid, path } = await stepping(['echo begun; sleep 600']);
    const client = clients.get('another instance') as GridClient;
    const events = await follow(client, `${path}/std.out`, MARK);
    const bytes = await follow(client, `${path}/std.out`);
    await events.until('begun');
    await bytes.until('begun');
    const stopped = second.stop();
    expect([await events.untilEnd(), await bytes.untilEnd()]).toEqual(['ended', 'cut']);
    expect(events.events.map(([name]) => name)).toEqual(['output']);
    await stopped;
    await alice.delete(`/jobs/${jid}`);
    await awaitFinal(alice, [jid]);
  });
});
