import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const CROWD = 30;
const PROGRESS_SECONDS = 5;
/** Their events are more than the buffers of both systems take. */
const SUBMITS = 3;
const JOBS_A_SUBMIT = 5_000;
/** The moves of a new job that nobody runs. */
const ADMISSION = ['Received', 'Checking', 'Waiting'];

/** A raw connection to the server that keeps what it is sent. */
interface Raw {
  socket: Socket;
  text: () => string;
  ended: Promise<void>;
}

function watched(socket: Socket): Raw {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, text: () => text, ended };
}

describe('clients that do not behave', () => {
  let grid: Grid;
  const raws: Raw[] = [];
  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_PROGRESS_TIMEOUT: String(PROGRESS_SECONDS) };
    grid = await startGrid({ env: { ...env, GRID_LOG_LEVEL: 'warn' } });
  });
  afterEach(() => {
    for (const { socket } of raws.splice(0)) socket.destroy();
  });
  afterAll(() => grid?.remove());

  async function secure(): Promise<Raw> {
    const { port } = new URL(grid.url);
    const socket: TLSSocket = connectTls({ port: Number(port), host: '127.0.0.1', ca: grid.ca });
    const raw = watched(socket);
    raws.push(raw);
    await once(socket, 'secureConnect');
    return raw;
  }

  async function bare(): Promise<Raw> {
    const raw = watched(connectPlain(Number(new URL(grid.url).port), '127.0.0.1'));
    raws.push(raw);
    await once(raw.socket, 'connect');
    return raw;
  }

  const metrics = async (): Promise<string> => (await grid.anonymous.get<string>('/metrics')).body;

  /** Others are answered, all of them. */
  async function othersAreServed(): Promise<void> {
    const alice = await grid.as('alice');
    for (let i = 0; i < 20; i += 1) {
      const answer = await alice.get('/jobs?maxJobs=1');
      expect(answer.status).toBe(200);
    }
  }

  it('do not stop others with half-open connections: silent ones, broken handshakes, half heads', async () => {
    await Promise.all(Array.from({ length: CROWD }, () => bare()));
    const garbled = await Promise.all(Array.from({ length: CROWD }, () => bare()));
    for (const { socket } of garbled) socket.write('\x16\x03\x01\x02\x00\x01');
    const half = await Promise.all(Array.from({ length: CROWD }, () => secure()));
    for (const { socket } of half) socket.write('GET /jobs HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    await othersAreServed();
  });

  it('are answered 408 when they drip a body, and others are served meanwhile', async () => {
    const token = await grid.token('alice', 'grid_user');
    const dripping = await Promise.all(Array.from({ length: CROWD }, () => secure()));
    const head = [
      'POST /jobs HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 100000',
    ];
    for (const { socket } of dripping) socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    const drip = setInterval(() => {
      for (const { socket } of dripping) if (socket.writable) socket.write(' ');
    }, 500);
    try {
      await othersAreServed();
      await Promise.all(dripping.map(({ ended }) => ended));
    } finally {
      clearInterval(drip);
    }
    for (const raw of dripping) {
      const [answer = '', body = ''] = raw.text().split('\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(JSON.parse(body)).toMatchObject({ status: 408, code: 'request.timeout' });
    }
  });

  it('are cut off when they take no more of an answer', async () => {
    const raw = await secure();
    raw.socket.pause();
    // Together more than the buffers of both systems take.
    const request = 'GET /docs/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';
    raw.socket.write(request.repeat(300));
    await eventually(
      async () =>
        /^gridgate_connections_cut_total\{reason="slow-reader"\} [1-9]/m.test(await metrics()),
      'the slow reader to be cut off',
    );
    await othersAreServed();
  });

  it('are cut off when they watch a feed and do not read; they miss nothing, and others see all at once', async () => {
    const alice = await grid.as('alice');
    const raw = await secure();
    raw.socket.write(
      [
        'GET /jobs/events HTTP/1.1',
        'Host: localhost',
        'Accept: application/x-ndjson',
        `Authorization: Bearer ${alice.token}`,
        '',
        '',
      ].join('\r\n'),
    );
    await eventually(() => Promise.resolve(/^HTTP\/1.1 200 /.test(raw.text())), 'the feed to open');
    raw.socket.pause();
    const other = await alice.get('/jobs?maxJobs=1');
    const jids: number[] = [];
    for (let turn = 0; turn < SUBMITS; turn += 1) {
      const json = { Executable: '/bin/true', Parameters: JOBS_A_SUBMIT };
      const { status, body } = await alice.post('/jobs', { json });
      expect(status).toBe(200);
      jids.push(...(body.jids as number[]));
    }
    const wanted = jids.flatMap((jid) => ADMISSION.map((status) => `${jid} ${status}`));
    const moved = async (after: string): Promise<string[]> => {
      const all: string[] = [];
      for (let position = after; ;) {
        const query = { after: position, wait: 0 };
        const { status, body } = await alice.get('/jobs/events', { query });
        expect(status).toBe(200);
        for (const { data } of body.events) all.push(`${data.jid} ${data.status}`);
        if (body.position === position) return all;
        position = body.position;
      }
    };
    const sorted = (lines: string[]): string[] => [...lines].sort();
    const here = String(other.headers['grid-feed-position']);
    expect(sorted(await moved(here))).toEqual(sorted(wanted));
    const cut = /^gridgate_connections_cut_total\{reason="slow-reader"\} 2$/m; // the one before is the first
    await eventually(async () => cut.test(await metrics()), 'the watcher to be cut off');

    raw.socket.resume();
    await raw.ended;
    const lines = raw
      .text()
      .split('\r\n')
      .flatMap((chunk) => chunk.split('\n'));
    const whole = lines.filter((line) => /^\{.*\}$/.test(line)).map((line) => JSON.parse(line));
    const heard = whole.filter(({ event }) => event === 'job');
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.length).toBeLessThan(wanted.length);
    const rest = await moved(heard.at(-1).id);
    const before = heard.map(({ data }) => `${data.jid} ${data.status}`);
    expect(sorted([...before, ...rest])).toEqual(sorted(wanted));
  });

  it.each([
    [
      'a giant header',
      `GET /jobs HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(200_000)}\r\n\r\n`,
      431,
    ],
    ['a giant query', `GET /jobs?${'a'.repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['what is not HTTP', 'EHLO localhost\r\n\r\n', 400],
  ])('are refused with %s, by a problem of ours', async (_, text, status) => {
    const raw = await secure();
    raw.socket.write(text);
    await raw.ended;
    const [head = '', body = ''] = raw.text().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toMatchObject({ status });
    await othersAreServed();
  });
});
