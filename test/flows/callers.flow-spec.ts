import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { runs } from '../support/counts.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const PLACES = 2;
const WAITING = 16 * PLACES;
const ABORTED = runs(1_000);
const DETAIL = `More than ${PLACES} requests of yours are at work at once`;
const FORM = 'application/x-www-form-urlencoded';

/** What is sent of a request whose body never comes whole. */
interface Head {
  path: string;
  token?: string;
  type: string;
  /** As a proxy says. */
  address?: string;
}

/** A request whose body does not come to its end; the answer, should there be one, is kept. */
class SlowUpload {
  text = '';

  private constructor(readonly socket: TLSSocket) {
    socket.setEncoding('utf8').on('data', (piece: string) => (this.text += piece));
    socket.on('error', () => undefined);
  }

  static async open(grid: Grid, { path, token, type, address }: Head): Promise<SlowUpload> {
    const port = Number(new URL(grid.url).port);
    const upload = new SlowUpload(connect({ port, host: '127.0.0.1', ca: grid.ca }));
    await once(upload.socket, 'secureConnect');
    const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${type}`];
    if (token !== undefined) head.push(`Authorization: Bearer ${token}`);
    if (address !== undefined) head.push(`X-Forwarded-For: ${address}`);
    upload.socket.write([...head, 'Content-Length: 100', '', '{'].join('\r\n'));
    return upload;
  }

  /** Status, `Retry-After` and body of the answer, once it is whole. */
  get answer(): { status: number; retryAfter: string | undefined; body: unknown } | undefined {
    const end = this.text.indexOf('\r\n\r\n');
    const head = this.text.slice(0, end);
    try {
      return {
        status: Number(head.slice(9, 12)),
        retryAfter: /^retry-after: (.*)$/im.exec(head)?.[1],
        body: JSON.parse(unchunked(this.text.slice(end + 4))),
      };
    } catch {
      return undefined;
    }
  }
}

/** A body of one piece, in chunks or not. */
function unchunked(body: string): string {
  return body.replace(/^[\da-f]+\r\n/i, '').replace(/\r\n0\r\n\r\n$/, '');
}

describe('requests of one caller', () => {
  let grid: Grid;
  let uploads: SlowUpload[] = [];
  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_CALLER_CONCURRENCY: String(PLACES) };
    grid = await startGrid({
      env: { ...env, GRID_DB_QUEUE_TIMEOUT: '50', GRID_LOG_LEVEL: 'error' },
    });
    await Promise.all([grid.as('alice'), grid.as('bob')]);
  });
  afterEach(async () => {
    for (const { socket } of uploads.splice(0)) socket.destroy();
    await counted(0, 0);
  });
  afterAll(() => grid?.remove());

  const open = async (count: number, head: Head, on = grid): Promise<SlowUpload[]> => {
    const opened = await Promise.all(
      Array.from({ length: count }, () => SlowUpload.open(on, head)),
    );
    uploads = [...uploads, ...opened];
    return opened;
  };
  const ofAlice = async (on = grid): Promise<Head> => {
    const { token = '' } = await on.as('alice');
    return { path: '/jobs', token, type: 'application/json' };
  };

  /** Waits until so many requests are at work and waiting. */
  const counted = (working: number, waiting: number, on = grid): Promise<unknown> =>
    eventually(async () => {
      const { body } = await on.anonymous.get<string>('/metrics');
      const value = (state: string): number =>
        Number(
          new RegExp(`^gridgate_caller_requests{state="${state}"} (\\d+)$`, 'm').exec(body)?.[1],
        );
      return value('working') === working && value('waiting') === waiting;
    }, `${working} at work and ${waiting} waiting`);

  it('wait while as many are at work as the caller has places, and nobody else does', async () => {
    const [first] = await open(PLACES, await ofAlice());
    await counted(PLACES, 0);
    let isAnswered = false;
    const alice = await grid.as('alice');
    const waiting = alice.get('/jobs').then(({ status }) => {
      isAnswered = true;
      return status;
    });
    await counted(PLACES, 1);
    const bob = await grid.as('bob');
    const others = await Promise.all(
      Array.from({ length: PLACES + WAITING }, () => bob.get('/jobs?maxJobs=1')),
    );
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
    expect(isAnswered).toBe(false);
    first?.socket.destroy();
    expect(await waiting).toBe(200);
  });

  it('are refused with 429 when too many wait; the others are answered', async () => {
    const all = await open(PLACES + WAITING + 6, await ofAlice());
    await counted(PLACES, WAITING);
    const answers = await eventually(() => {
      const some = all.flatMap(({ answer }) => (answer ? [answer] : []));
      return Promise.resolve(some.length === 6 && some);
    }, 'six refusals');
    for (const answer of answers) {
      expect(answer).toEqual({
        status: 429,
        retryAfter: '1',
        body: {
          type: 'urn:gridgate:problem:rate.limited',
          title: 'Too many requests',
          status: 429,
          detail: DETAIL,
          code: 'rate.limited',
          instance: expect.stringMatching(/^urn:gridgate:request:/),
        },
      });
    }
    expect((await (await grid.as('bob')).get('/jobs')).status).toBe(200);
    expect((await grid.anonymous.get('/health/ready')).status).toBe(200);
  });

  it('are those of an address where nobody has to be known; who shows a token is none of them', async () => {
    await open(PLACES + WAITING, { path: '/oauth2/token', type: FORM });
    await counted(PLACES, WAITING);
    const { status, headers, body } = await grid.anonymous.get('/oauth2/token');
    expect({ status, retryAfter: headers['retry-after'], body }).toEqual({
      status: 429,
      retryAfter: '1',
      body: {
        error: 'temporarily_unavailable',
        error_description: DETAIL,
        type: 'urn:gridgate:problem:rate.limited',
        title: 'Too many requests',
        status: 429,
        detail: DETAIL,
        code: 'rate.limited',
        instance: expect.stringMatching(/^urn:gridgate:request:/),
      },
    });
    expect((await (await grid.as('alice')).get('/jobs')).status).toBe(200);
    const certificate = await grid.certificate('alice');
    expect((await certificate.get('/oauth2/groups')).status).toBe(200);
  });

  it('are those of one line of IPv6, from whichever of its addresses they come', async () => {
    const proxied = await grid.second({ GRID_TRUSTED_PROXIES: '127.0.0.1' });
    try {
      const from = (address: string): Head => ({ path: '/oauth2/token', type: FORM, address });
      for (let n = 0; n <= PLACES; n += 1) await open(1, from(`2001:db8:1:2::${n}`), proxied);
      await counted(PLACES, 1, proxied);
      await open(1, from('2001:db8:1:3::1'), proxied);
      await counted(PLACES + 1, 1, proxied);
    } finally {
      await proxied.stop();
    }
  });

  it('leave nothing behind when their clients go away', async () => {
    const head = await ofAlice();
    for (let done = 0; done < ABORTED; done += 50) {
      const some = await open(50, head);
      await counted(PLACES, WAITING);
      for (const { socket } of some) socket.destroy();
      uploads = [];
      await counted(0, 0);
    }
    expect((await (await grid.as('alice')).get('/jobs')).status).toBe(200);
  });

  it('give their places back after errors', async () => {
    const alice = await grid.as('alice');
    const faults = await Promise.all(
      Array.from({ length: 20 }, () =>
        alice.post('/jobs', { body: '{', headers: { 'content-type': 'application/json' } }),
      ),
    );
    expect(new Set(faults.map(({ status }) => status))).toEqual(new Set([400]));
  });

  it('are refused when none of them ends in time', async () => {
    const hasty = await grid.second({ GRID_DB_QUEUE_TIMEOUT: '1' });
    try {
      await open(PLACES, await ofAlice(hasty), hasty);
      await counted(PLACES, 0, hasty);
      const alice = await hasty.as('alice');
      const { status, headers, body } = await alice.get('/jobs');
      expect([status, headers['retry-after'], body.code]).toEqual([429, '1', 'rate.limited']);
      await counted(PLACES, 0, hasty);
    } finally {
      await hasty.stop();
    }
  });
});
