import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditTrail } from '../support/audit-trail.js';
import { Blocker } from '../support/blocker.js';
import { eventually, startGrid, type Grid, type Identity } from '../support/testbed.js';

const TIMEOUT_SECONDS = 3;

interface Upload {
  path: string;
  type: string;
  body: string;
}

/** Sends a whole request, and leaves the connection to the test. */
async function sendWhole(grid: Grid, who: Identity, upload: Upload): Promise<TLSSocket> {
  const { port } = new URL(grid.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', ca: grid.ca });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const { token } = await grid.as(who);
  const head = [
    `POST ${upload.path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    `Content-Type: ${upload.type}`,
    `Content-Length: ${Buffer.byteLength(upload.body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${upload.body}`);
  return socket;
}

const bulk = (lines: readonly object[]): Upload => ({
  path: '/filecatalogue/bulk',
  type: 'application/x-ndjson',
  body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
});

const fields = (letter: string, count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ kind: 'field', name: `${letter}${n}`, type: 'int' }));

const FIELDS = 'lock table catalogue_field in share mode';
/** What every writer of the catalogue shares. */
const MOVES = `select pg_advisory_xact_lock(1735551331, 1)`;

describe('a request whose answer nobody waits for any more', () => {
  let grid: Grid;
  let audit: AuditTrail;
  let blocker: Blocker | undefined;

  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_REQUEST_TIMEOUT: String(TIMEOUT_SECONDS) };
    grid = await startGrid({ env });
    audit = new AuditTrail(grid);
  });
  afterEach(() => release());
  afterAll(() => grid?.remove());

  const release = async (): Promise<void> => {
    await blocker?.end();
    blocker = undefined;
  };

  const count = async (text: string): Promise<number> =>
    Number((await grid.sql<{ n: number }>(`select count(*)::integer as n from ${text}`))[0]?.n);

  const logged = (path: string, status: number, times = 1) =>
    eventually(async () => {
      const lines = audit.log
        .lines()
        .filter((line) => line['path'] === path && line['status'] === status);
      return Promise.resolve(lines.length >= times && lines.at(-1));
    }, `${times} requests of ${path} that end with ${status}`);

  /** The line of the audit trail that the last bulk request with this status has left. */
  const bulkLine = async (status: number, times: number): Promise<Record<string, unknown>> => {
    const { requestId } = await logged('/filecatalogue/bulk', status, times);
    await release();
    return audit.log.line(
      (one) => one['event'] === 'catalogue.bulk' && one['requestId'] === requestId,
    );
  };
  const ONE_OF_MANY = {
    outcome: 'done',
    ...{ lines: 1, created: 1, updated: 0, deleted: 0, unchanged: 0, failed: 0 },
    interrupted: true,
    user: 'fred',
  };

  it('of many changes stops before the next one when its client has gone', async () => {
    blocker = await Blocker.hold(grid, FIELDS);
    const socket = await sendWhole(grid, 'fred', bulk(fields('g', 300)));
    await blocker.keeps(1);
    socket.destroy();
    expect(await bulkLine(499, 1)).toMatchObject(ONE_OF_MANY);
    expect(await count(`catalogue_field where name ~ '^g\\d'`)).toBe(1);
  });

  it('of many changes stops before the next one when it has taken too long', async () => {
    blocker = await Blocker.hold(grid, FIELDS);
    const { path, type, body } = bulk(fields('h', 300));
    const fred = await grid.as('fred');
    const { status, body: problem } = await fred.post(path, {
      body,
      headers: { 'content-type': type },
    });
    expect([status, problem.code]).toEqual([503, 'service.unavailable']);
    expect(await bulkLine(503, 1)).toMatchObject(ONE_OF_MANY);
    expect(await count(`catalogue_field where name ~ '^h\\d'`)).toBe(1);
  });

  it('of many lines that have been sent stops at the next transaction when its client has gone', async () => {
    blocker = await Blocker.hold(grid, MOVES);
    const lines = Array.from({ length: 40_000 }, (_, n) => ({
      kind: 'directory',
      path: `/left/d${n}`,
    }));
    const socket = await sendWhole(grid, 'fred', bulk(lines));
    await blocker.keeps(1);
    socket.destroy();
    expect(await bulkLine(499, 2)).toMatchObject({
      lines: 1_000,
      created: 1_000,
      interrupted: true,
    });
    expect(await count(`catalogue_directory where path like '/left/%'`)).toBe(1_000);
  });

  it('to submit jobs makes none when its client has gone before they are all made', async () => {
    blocker = await Blocker.hold(grid, 'lock table jobs in exclusive mode');
    const before = await count('jobs');
    const manifest = { Executable: '/bin/true', JobName: 'abandoned', Parameters: 5_000 };
    const socket = await sendWhole(grid, 'alice', {
      path: '/jobs',
      type: 'application/json',
      body: JSON.stringify(manifest),
    });
    await blocker.keeps(1);
    socket.destroy();
    await logged('/jobs', 499);
    await release();
    await eventually(async () => {
      const at = `pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
      return (await count(`${at} and xact_start is not null`)) === 0;
    }, 'its transaction to end');
    expect(await count('jobs')).toBe(before);
  });
});
