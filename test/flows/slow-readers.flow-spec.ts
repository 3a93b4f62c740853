import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const READERS = 6;
const POOL = 4;
const FILES = 50_000;
const VALUES = 60_000;
const DIRECTORIES = 4_000;

const NDJSON = 'application/x-ndjson';
/** A long way down, so that few directories make a long answer. */
const DEEP = `/vo/${Array.from({ length: 14 }, (_, level) => `${level}`.repeat(240).slice(0, 240)).join('/')}`;

const at = (path: string): string => Buffer.from(path).toString('base64url');

/** A reader that takes the beginning of an answer and then nothing until it goes on. */
class SlowReader {
  private readonly pieces: Buffer[] = [];

  private constructor(readonly socket: TLSSocket) {}

  static async open(grid: Grid, path: string, accept = '*/*'): Promise<SlowReader> {
    const { port } = new URL(grid.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: grid.ca });
    const reader = new SlowReader(socket.on('error', () => undefined));
    await once(socket, 'secureConnect');
    const token = (await grid.as('alice')).token ?? '';
    const head = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`];
    socket.write([...head, `Accept: ${accept}`, 'Connection: close', '', ''].join('\r\n'));
    const [first] = (await once(socket, 'data')) as [Buffer];
    reader.pieces.push(first);
    socket.pause();
    return reader;
  }

  /** Reads the rest; the body of the answer. */
  async rest(): Promise<string> {
    this.socket.on('data', (piece: Buffer) => this.pieces.push(piece)).resume();
    await once(this.socket, 'close');
    const text = Buffer.concat(this.pieces).toString('utf8');
    const end = text.indexOf('\r\n\r\n');
    expect(text.slice(0, 12)).toBe('HTTP/1.1 200');
    return unchunked(text.slice(end + 4));
  }
}

/** The body of an answer in chunks (RFC 9112 §7.1) whose text is ASCII. */
function unchunked(body: string): string {
  const pieces: string[] = [];
  for (let from = 0; from < body.length;) {
    const line = body.indexOf('\r\n', from);
    const length = Number.parseInt(body.slice(from, line), 16);
    pieces.push(body.slice(line + 2, line + 2 + length));
    from = line + 2 + length + 2;
    if (length === 0) return pieces.join('');
  }
  throw new Error('the answer was cut off');
}

describe('readers that read slowly', () => {
  let grid: Grid;
  let alice: GridClient;
  const readers: SlowReader[] = [];

  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_DB_POOL: String(POOL), GRID_PROGRESS_TIMEOUT: '120' };
    grid = await startGrid({ env: { ...env, GRID_LOG_LEVEL: 'error' } });
    alice = await grid.as('alice');
    await grid.sql(`update catalogue_directory set mode = 511 where path = '/vo'`);
    const lines = [
      { kind: 'directory', path: '/vo/big' },
      ...Array.from({ length: DIRECTORIES }, (_, i) => ({
        kind: 'directory',
        path: `${DEEP}/d${String(i).padStart(5, '0')}`,
      })),
    ];
    const { status } = await alice.post('/filecatalogue/bulk', {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': NDJSON },
    });
    expect(status).toBe(200);
    await grid.sql(
      `insert into catalogue_file (directory_id, name, size, owner_id, group_id, mode, checksum, guid)
       select d.id, 'f' || lpad(i::text, 6, '0'), i, d.owner_id, d.group_id, 493, repeat('c', 64), repeat('a', 36)
       from catalogue_directory d, generate_series(1, ${FILES}) i where d.path = '/vo/big'`,
    );
    await grid.sql(
      `with f as (insert into catalogue_field (name, type) values ('many', 'string') returning id)
       insert into catalogue_value (field_id, text_value, segments)
       select f.id, lpad(i::text, 200, 'v'), 1 from f, generate_series(1, ${VALUES}) i`,
    );
  });
  afterEach(() => {
    for (const { socket } of readers.splice(0)) socket.destroy();
  });
  afterAll(() => grid?.remove());

  const open = async (path: string, accept?: string): Promise<SlowReader> => {
    const reader = await SlowReader.open(grid, path, accept);
    readers.push(reader);
    return reader;
  };

  /** Connections of the server that hold a transaction, and with it a state of the database. */
  const transactions = async (): Promise<number> => {
    const [row] = await grid.sql<{ n: number }>(
      `select count(*)::integer as n from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
    );
    return row?.n ?? -1;
  };

  const LISTING = `/filecatalogue/directory/${at('/vo/big')}?verbose=1`;
  const SEARCH = `/filecatalogue/directory/${at(DEEP)}/search`;

  it.each([
    ['a listing', LISTING, '*/*'],
    ['a search', SEARCH, NDJSON],
    ['values', '/filecatalogue/metadata', '*/*'],
  ])(
    'of %s hold no connection and no state of the database; others submit meanwhile',
    async (_what, path, accept) => {
      const all = await Promise.all(Array.from({ length: READERS }, () => open(path, accept)));
      await eventually(async () => (await transactions()) === 0, 'all transactions to end');
      const jids = await submit(alice, [{ Executable: '/bin/true' }]);
      expect(jids).toHaveLength(1);
      // Those who read so slowly still get everything.
      const body = await (all[0] as SlowReader).rest();
      if (accept === NDJSON) {
        const found = body.trimEnd().split('\n');
        expect(found).toHaveLength(DIRECTORIES + 1);
        expect(JSON.parse(found.at(-1) ?? '')).toEqual({
          path: `${DEEP}/d${String(DIRECTORIES - 1).padStart(5, '0')}`,
          files: 0,
          size: 0,
        });
      } else if (path === LISTING) {
        expect(Object.keys(JSON.parse(body).Files)).toHaveLength(FILES);
      } else {
        expect(JSON.parse(body).many.values).toHaveLength(VALUES);
      }
    },
  );

  it('get what exists throughout exactly once and in order while the directory changes', async () => {
    const reader = await open(LISTING);
    // Those at the end cannot have been read yet: the answer is longer than what stands in buffers.
    await grid.sql(`delete from catalogue_file where name ~ '^f0[34]...7$'`);
    await grid.sql(
      `insert into catalogue_file (directory_id, name, size, owner_id, group_id, mode)
       select directory_id, name || 'b', 1, owner_id, group_id, 493 from catalogue_file
       where name ~ '^f0[04]...5$'`,
    );
    const names = [...(await reader.rest()).matchAll(/"(f\d{6}b?)":\{"MetaData"/g)];
    const listed = names.map(([, name]) => name ?? '');
    expect(listed).toEqual([...new Set(listed)].sort());
    const all = Array.from({ length: FILES }, (_, i) => `f${String(i + 1).padStart(6, '0')}`);
    const kept = all.filter((name) => !/^f0[34]...7$/.test(name));
    const seen = new Set(listed);
    expect(kept.filter((name) => !seen.has(name))).toEqual([]);
    const [deleted, added, tooLate] = ['f049997', 'f049995b', 'f000005b'];
    expect([deleted, added, tooLate].map((name) => seen.has(name))).toEqual([false, true, false]);
  });
});
