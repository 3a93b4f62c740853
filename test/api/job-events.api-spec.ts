import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitStatus, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';
import { Watcher } from '../support/watcher.js';

const TRUE = { Executable: '/bin/true' };

/** Every status of a new job that nobody runs, with its minor status. */
const ADMISSION = [
  ['Received', 'Job accepted'],
  ['Checking', 'InputData optimizer'],
  ['Waiting', 'Pilot Agent Submission'],
];

describe('GET /jobs/events', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  const watchers: Watcher[] = [];

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_FEED_STREAMS: '5' } });
    alice = await grid.as('alice');
    bob = await grid.as('bob');
  });
  afterAll(async () => grid?.remove());
  afterEach(async () => {
    await Promise.all(watchers.splice(0).map((watcher) => watcher.close()));
  });

  const until = async (isSo: () => boolean): Promise<unknown> =>
    eventually(() => Promise.resolve(isSo()), 'events');

  async function watch(query = '', client = alice, at = grid): Promise<Watcher> {
    const watcher = new Watcher(at, client.token ?? '', `/jobs/events${query}`);
    watchers.push(watcher);
    await until(() => watcher.opened > 0 || watcher.isClosed);
    return watcher;
  }

  async function poll(query: string, client = alice): Promise<any> {
    const { status, body } = await client.get(`/jobs/events?wait=5&${query}`);
    expect(status).toBe(200);
    return body;
  }

  async function position(client = alice): Promise<string> {
    const { headers } = await client.get('/jobs?maxJobs=1');
    return String(headers['grid-feed-position']);
  }

  const statuses = (events: { data: any }[], jid: number): string[] =>
    events.filter(({ data }) => data.jid === jid).map(({ data }) => data.status);

  async function kill(jid: number, client = alice): Promise<void> {
    expect((await client.delete(`/jobs/${jid}`)).status).toBe(200);
  }

  it('tells each move once, in order, from the list on', async () => {
    const { headers, body } = await alice.get('/jobs');
    expect(body.entries).toBe(0);
    const from = String(headers['grid-feed-position']);
    const [jid = 0] = await submit(alice, [{ ...TRUE, JobName: 'one' }]);
    const watcher = await watch(`?after=${from}`);
    await until(() => watcher.of('job').length === 3);
    await kill(jid);
    await until(() => watcher.of('job').length === 4);
    const events = watcher.of('job');
    expect(events.map(({ data }) => [data.status, data.minorStatus])).toEqual([
      ...ADMISSION,
      ['Killed', 'Marked for termination'],
    ]);
    const { body: record } = await alice.get(`/jobs/${jid}`);
    expect(events[3]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      event: 'job',
      data: {
        jid,
        status: 'Killed',
        minorStatus: 'Marked for termination',
        appStatus: 'Unknown',
        site: 'ANY',
        lastUpdate: record.times.lastUpdate,
      },
    });
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const again = await watch(`?after=${events[1]?.id}`);
    await until(() => again.of('job').length === 2);
    expect(again.of('job')).toEqual(events.slice(2));
  });

  it('sends the same as lines', async () => {
    const from = await position();
    const [jid = 0] = await submit(alice, [TRUE]);
    const expected = (await poll(`after=${from}`)).events;
    expect(statuses(expected, jid)).toEqual(['Received', 'Checking', 'Waiting']);
    const controller = new AbortController();
    const { Agent, fetch } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: grid.ca } });
    const answer = await fetch(`${grid.url}/jobs/events?after=${from}`, {
      headers: { Authorization: `Bearer ${alice.token}`, Accept: 'application/x-ndjson' },
      signal: controller.signal,
      dispatcher,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    let text = '';
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString('utf8');
      if (text.split('\n').filter((line) => line !== '').length >= expected.length) break;
    }
    await dispatcher.destroy();
    const lines = text.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => JSON.parse(line))).toEqual(expected);
  });

  it('says to lines too where they begin, when that was not asked', async () => {
    const from = await position();
    const { Agent, fetch } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: grid.ca } });
    const headers = { Authorization: `Bearer ${alice.token}`, Accept: 'application/x-ndjson' };
    const answer = await fetch(`${grid.url}/jobs/events`, { headers, dispatcher });
    for await (const piece of answer.body ?? []) {
      const line = JSON.parse(Buffer.from(piece).toString('utf8')) as { id: string };
      expect(line).toEqual({ id: line.id, event: 'position', data: { position: line.id } });
      expect(Number(line.id.split('-')[0])).toBe(Number(from.split('-')[0]));
      break;
    }
    await dispatcher.destroy();
  });

  it('answers once when asked to wait', async () => {
    const from = await position();
    const nothing = await alice.get(`/jobs/events?wait=0&after=${from}`);
    expect([nothing.status, nothing.body]).toEqual([200, { events: [], position: from }]);
    const waiting = poll(`after=${from}`);
    const [jid = 0] = await submit(alice, [TRUE]);
    const { events, position: after } = await waiting;
    expect(statuses(events, jid)).toEqual(['Received', 'Checking', 'Waiting']);
    expect(after).toBe(events.at(-1).id);
    await kill(jid);
    expect(statuses((await poll(`after=${after}`)).events, jid)).toEqual(['Killed']);
    const header = { 'Last-Event-ID': String(events[0].id) };
    const resumed = await alice.get(`/jobs/events?wait=5&after=${from}`, { headers: header });
    expect(statuses(resumed.body.events, jid)).toEqual(['Checking', 'Waiting', 'Killed']);
  });

  it('has the filters of lists, and says when a job is on the list no more', async () => {
    const from = await position();
    const [first = 0, second = 0] = await submit(alice, [
      { ...TRUE, JobName: 'fa', JobGroup: 'g1' },
      { ...TRUE, JobName: 'fb', JobGroup: 'g1' },
    ]);
    await kill(first);
    const shown = async (query: string): Promise<unknown[]> =>
      (await poll(`after=${from}&${query}`)).events.map(({ event, data }: any) => [
        ...[event, data.jid, data.status],
      ]);
    expect(await shown('Status=Killed')).toEqual([['job', first, 'Killed']]);
    expect(await shown('JobGroup=g1&status=Waiting')).toEqual([
      ['job', first, 'Waiting'],
      ['job', second, 'Waiting'],
      ['left', first, 'Killed'],
    ]);
    expect(await shown(`name=fb&killed=false&Owner=alice&jid=${second}`)).toEqual(
      ADMISSION.map(([status]) => ['job', second, status]),
    );
    const none = await alice.get(`/jobs/events?wait=0&after=${from}&priority=7`);
    expect(none.body.events).toEqual([]);
  });

  it('shows what lists show', async () => {
    const from = await position(bob);
    const [jid = 0] = await submit(alice, [TRUE]);
    const own = await bob.get(`/jobs/events?wait=0&after=${from}`);
    expect(own.body.events).toEqual([]);
    const all = await poll(`after=${from}&allOwners=true`, bob);
    expect(statuses(all.events, jid)).toEqual(['Received', 'Checking', 'Waiting']);
  });

  it('goes on at another instance', async () => {
    const other = await grid.second();
    try {
      const here = await watch();
      const elsewhere = await other.as('alice');
      const [jid = 0] = await submit(elsewhere, [TRUE]);
      await until(() => statuses(here.of('job'), jid).length === 3);
      const there = await watch(`?after=${here.of('job')[0]?.id}`, elsewhere, other);
      await kill(jid);
      await until(() => statuses(there.of('job'), jid).length === 3);
      expect(statuses(there.of('job'), jid)).toEqual(['Checking', 'Waiting', 'Killed']);
      await until(() => statuses(here.of('job'), jid).length === 4);
    } finally {
      await other.remove();
    }
  });

  it('ends for a token that is revoked, and refuses it then', async () => {
    const token = await grid.token('alice', 'grid_user');
    const mine = grid.bearer(token);
    const watcher = await watch('', mine);
    const form = { token };
    expect((await mine.post('/oauth2/revoke', { form })).status).toBe(200);
    await until(() => watcher.isClosed);
    expect(watcher.of('end')).toEqual([
      { id: expect.any(String), event: 'end', data: { reason: expect.any(String) } },
    ]);
    expect(watcher.refusals).toEqual([401]);
  });

  it('ends for who is not in the group any more, before the next event', async () => {
    const watcher = await watch('?allOwners=true', await grid.as('carol'));
    try {
      await grid.sql(`delete from registry_member where user_name = 'carol'`);
      await until(() => watcher.isClosed);
      await submit(alice, [TRUE]);
      expect(watcher.got).toEqual([
        { id: expect.any(String), event: 'end', data: { reason: expect.any(String) } },
      ]);
    } finally {
      await grid.sql(`insert into registry_member values ('grid_user', 'carol', 9)`);
    }
  });

  it('goes no further back than events are kept', async () => {
    const last = Number((await position()).split('-')[0]);
    const gone = {
      type: expect.stringContaining('feed.gone'),
      title: 'The feed does not go back so far',
      status: 410,
      detail: 'No event has this position yet, so it is not one of this feed: list again',
      instance: expect.any(String),
      code: 'feed.gone',
    };
    for (const query of [`?after=${last + 1_000}`, `?wait=1&after=${last + 1_000}`]) {
      const { status, body } = await alice.get(`/jobs/events${query}`);
      expect([status, body]).toEqual([410, gone]);
    }
    await grid.sql(`update event_positions set gone = 2 where source = 'jobs'`);
    const old = await alice.get('/jobs/events?after=1');
    const detail = 'Events behind this position are not kept any more: list again';
    expect([old.status, old.body]).toEqual([410, { ...gone, detail }]);
    expect((await alice.get('/jobs/events?wait=0&after=2')).status).toBe(200);
    const watcher = await watch('?after=1');
    await until(() => watcher.isClosed);
    expect(watcher.refusals).toEqual([410]);
  });

  it.each([
    ['?after=x', 'after', 'is not a position of a feed'],
    ['?after=1-2', 'after', 'is not a position of a feed'],
    ['?after=1-5-4', 'after', 'is not a position of a feed'],
    ['?after=', 'after', 'is not a position of a feed'],
    ['?wait=31', 'wait', 'must be a whole number between 0 and 30'],
    ['?wait=-1', 'wait', 'must be a whole number between 0 and 30'],
    ['?Status=Nothing', 'Status', expect.stringMatching(/^is not one of Submitting/)],
  ])('refuses %s', async (query, field, problem) => {
    const { status, body } = await alice.get(`/jobs/events${query}`);
    expect([status, body.code]).toEqual([400, 'request.invalid']);
    expect(body.violations).toEqual([{ field, problem }]);
  });

  it('refuses a bad Last-Event-ID, unknown keys, and who shows no token', async () => {
    const headers = { 'Last-Event-ID': '7;8' };
    const bad = await alice.get('/jobs/events', { headers });
    expect([bad.status, bad.body.violations]).toEqual([
      400,
      [{ field: 'Last-Event-ID', problem: 'is not a position of a feed' }],
    ]);
    expect((await alice.get('/jobs/events?maxJobs=1')).body.code).toBe('request.unknown-parameter');
    expect((await grid.anonymous.get('/jobs/events')).status).toBe(401);
    const other = grid.bearer(await grid.token('alice', 'grid_user', 'Prod', 'catalogue:read'));
    expect((await other.get('/jobs/events')).body.code).toBe('auth.insufficient-scope');
  });

  it('answers HEAD with what GET would begin with', async () => {
    const { status, headers, bytes } = await alice.head('/jobs/events');
    expect([status, bytes.length]).toEqual([200, 0]);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  it('says where it is when nothing has been for the watcher for a while', async () => {
    const before = await position();
    const [jid = 0] = await submit(alice, [TRUE]);
    await awaitStatus(alice, jid, ['Waiting']);
    // A number alone: no transaction of this machine was open beside it that may still add an event.
    const here = await eventually(async () => {
      const one = await position();
      return /^\d+$/.test(one) && one;
    }, 'a position with nothing open');
    const watcher = await watch(`?jobGroup=nothing&after=${before}`);
    await until(() => watcher.got.length > 0); // five seconds
    expect(watcher.got).toEqual([{ id: here, event: 'position', data: { position: here } }]);
  });

  it('is open so many times at once, and takes nothing from other requests', async () => {
    for (let n = 0; n < 5; n += 1) await watch();
    const { status, body, headers } = await alice.get('/jobs/events');
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'rate.limited', '5']);
    expect(body.detail).toBe('More than 5 streams of yours are open');
    expect((await alice.get('/jobs')).status).toBe(200);
    const theirs = await watch('', bob);
    expect(theirs.isClosed).toBe(false);
    await watchers[0]?.close();
    await eventually(
      async () => (await alice.get('/jobs/events?wait=0')).status === 200,
      'a place of a stream',
    );
  });
});

describe('a server that stops', () => {
  it('ends its streams, whose watchers go on at the next', async () => {
    let grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_SHUTDOWN_GRACE: '60' } });
    try {
      const { Agent, request } = await import('undici');
      const { token = '' } = await grid.as('alice');
      const dispatcher = new Agent({ connect: { ca: grid.ca } });
      const headers = { authorization: `Bearer ${token}` };
      const stream = await request(`${grid.url}/jobs/events`, { dispatcher, headers });
      const whole = stream.body.text();
      await grid.server.stop();
      expect(await whole).toMatch(/^retry: 2000\nid: \d+\n\n$/);
      await dispatcher.destroy();
      grid = await grid.again();
    } finally {
      await grid.remove();
    }
  });
});
