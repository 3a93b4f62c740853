import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandUser } from '../support/command.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** 1,000 writers for a minute: GRID_WRITERS=1000 GRID_WRITERS_SECONDS=60 (docs/catalogue-performance.md). */
const WRITERS = Number(process.env['GRID_WRITERS'] ?? 200);
const SECONDS = Number(process.env['GRID_WRITERS_SECONDS'] ?? 3);
const DIRECTORIES = 40;
const TOP = '/load';

let grid: Grid;
let other: Grid;
let home: string;

beforeAll(async () => {
  grid = await startGrid();
  other = await grid.second();
  home = await mkdtemp(join(tmpdir(), 'grid-writers-'));
});

afterAll(async () => {
  await other?.stop();
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

const at = (path: string): string => Buffer.from(path).toString('base64url');
const directory = (path: string): string => `/filecatalogue/directory/${at(path)}`;
const file = (path: string): string => `/filecatalogue/file/${at(path)}`;

/** What the writers have done, by status, and the files that must be there in the end. */
interface Ledger {
  statuses: Map<string, number>;
  files: Map<string, number>;
  /** Times of answers, ms. */
  times: number[];
}

type Step = (client: GridClient, writer: number, turn: number) => Promise<void>;

/** One writer's steps in turn: files of its own and files that all fight for, values, directories that come and go. */
function stepsOf(ledger: Ledger): Step[] {
  const call = async (
    client: GridClient,
    [method, path, json]: [string, string, object?],
    allowed: number[],
  ): Promise<number> => {
    const began = performance.now();
    const answer = await client.call(method, path, json ? { json } : {});
    ledger.times.push(performance.now() - began);
    const what = `${method} ${answer.status}`;
    ledger.statuses.set(what, (ledger.statuses.get(what) ?? 0) + 1);
    if (!allowed.includes(answer.status)) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.bytes.toString()}`);
    }
    return answer.status;
  };
  const place = (writer: number, turn: number): string =>
    `${TOP}/d${(writer * 7 + turn) % DIRECTORIES}`;
  return [
    async (client, writer, turn) => {
      const path = `${place(writer, turn)}/own-${writer}-${turn}`;
      const status = await call(client, ['PUT', file(path), { Size: turn + 1 }], [201]);
      if (status === 201) ledger.files.set(path, turn + 1);
      if (turn % 2 === 1) return;
      await call(client, ['DELETE', file(path)], [200]);
      ledger.files.delete(path);
    },
    async (client, writer, turn) => {
      const path = file(`${place(writer, turn)}/shared-${turn % 3}`);
      await call(client, ['PUT', path, { Size: 1_000 + (writer % 2) }], [200, 201, 409]);
      await call(client, ['PATCH', `${path}/metadata`, { note: writer }], [200, 404]);
      await call(client, ['DELETE', path], [200, 404]);
    },
    async (client, writer, turn) => {
      const path = `${directory(place(writer, turn))}/metadata`;
      const value = turn % 4 === 3 ? null : (writer % 5) + 1;
      await call(client, ['PATCH', path, { load_run: value }], [200]);
    },
    async (client, writer, turn) => {
      const path = directory(`${place(writer, turn)}/sub-${writer % 10}`);
      await call(client, ['POST', path, { Mode: 509 }], [200, 201]);
      await call(client, ['PUT', `${path}/metadata`, { load_kind: 'a' }], [200, 404]);
      await call(client, ['DELETE', path], [200, 404, 409]);
    },
  ];
}

async function write(clients: GridClient[], ledger: Ledger): Promise<void> {
  const steps = stepsOf(ledger);
  const end = Date.now() + SECONDS * 1000;
  const writer = async (number: number): Promise<void> => {
    const client = clients[number % clients.length] as GridClient;
    for (let turn = 0; Date.now() < end; turn += 1) {
      await (steps[(number + turn) % steps.length] as Step)(client, number, turn);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
}

async function prepare(fred: GridClient): Promise<void> {
  for (const [name, type] of [
    ['load_run', 'int'],
    ['load_kind', 'string'],
  ]) {
    await fred.post('/filecatalogue/metadata', { json: { name, type } });
  }
  const lines = [
    { kind: 'directory', path: TOP, mode: 0o777 },
    ...Array.from({ length: DIRECTORIES }, (_, n) => ({
      kind: 'directory',
      path: `${TOP}/d${n}`,
      mode: 0o777,
    })),
  ];
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await fred.post('/filecatalogue/bulk', { body, headers });
  expect(answer.body).toContain('"failed":0');
}

async function filesBelow(client: GridClient, path: string): Promise<Map<string, number>> {
  const { body } = await client.get(directory(path));
  const found = new Map<string, number>();
  for (const [name, entry] of Object.entries<any>(body.Files))
    found.set(`${path}/${name}`, entry.MetaData.Size);
  return found;
}

describe(`${WRITERS} writers at once on two instances for ${SECONDS} s`, () => {
  it(
    'get no error but the conflicts that are theirs, and leave exact totals',
    async () => {
      await prepare(await grid.as('fred'));
      const clients = [
        await grid.as('alice'),
        await other.as('bob'),
        await grid.as('carol'),
        await other.as('alice'),
      ];
      const ledger: Ledger = { statuses: new Map(), files: new Map(), times: [] };
      await write(clients, ledger);

      const reader = clients[0] as GridClient;
      const found = new Map<string, number>();
      for (let n = 0; n < DIRECTORIES; n += 1) {
        for (const entry of await filesBelow(reader, `${TOP}/d${n}`)) found.set(...entry);
      }
      const own = [...found].filter(([path]) => path.includes('/own-'));
      expect(new Map(own)).toEqual(ledger.files);
      const bytes = [...found.values()].reduce((sum, size) => sum + size, 0);
      const { f, s } = (await reader.get(`${directory(TOP)}/search`)).body;
      expect({ f, s }).toEqual({ f: found.size, s: bytes });

      const verified = await new CommandUser(home).run(['catalogue', 'verify', '--json'], {
        DATABASE_URL: grid.database.url,
        GRID_HOME: grid.home,
      });
      expect(JSON.parse(verified.stdout)).toMatchObject({ faults: 0, descriptions: [] });
      expect(verified.code).toBe(0);
      if (process.env['GRID_WRITERS']) tell(ledger);
    },
    (SECONDS + 60) * 1000,
  );
});

function tell({ statuses, files, times }: Ledger): void {
  const sorted = [...times].sort((a, b) => a - b);
  const share = (part: number): string =>
    `${Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)} ms`;
  const counts = [...statuses].sort().map(([what, count]) => `${what}: ${count}`);
  process.stdout.write(
    `${sorted.length} writes, ${Math.round(sorted.length / SECONDS)}/s, p50 ${share(0.5)}, p99 ${share(0.99)}, ` +
      `longest ${share(0.99999)}; ${counts.join(', ')}; ${files.size} files left\n`,
  );
}
