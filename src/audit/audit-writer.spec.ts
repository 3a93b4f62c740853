import { describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import type { Logger } from '#src/runtime/logger.js';
import { Metrics } from '#src/runtime/metrics.js';
import type { StoredAuditLine } from './audit-events.repository.js';
import { AuditWriter } from './audit-writer.js';

const NOW = Date.parse('2026-01-02T03:04:05.678Z');

/** A writer, the statements that reached its database, and its log. */
function setUp(
  refuses: (lines: readonly StoredAuditLine[]) => Error | undefined = () => undefined,
) {
  const statements: StoredAuditLine[][] = [];
  const log: unknown[] = [];
  const note = (fields: object | string, text?: string): void =>
    void log.push(typeof fields === 'string' ? fields : { text, ...fields });
  const metrics = new Metrics();
  const insert = (lines: readonly StoredAuditLine[]): Promise<void> => {
    const error = refuses(lines);
    if (error !== undefined) return Promise.reject(error);
    return Promise.resolve(void statements.push([...lines]));
  };
  const writer = new AuditWriter({
    instance: 'host:8443',
    repository: { insert },
    clock: { now: () => NOW },
    logger: { warn: note, error: note } as unknown as Logger,
    metrics,
  });
  const keep = (count: number, line: object = {}): void => {
    for (let number = 0; number < count; number += 1) {
      writer.keep({ event: 'job.killed', outcome: 'done', number, ...line });
    }
  };
  const numbers = (): unknown[] =>
    statements.flat().map(({ details }) => (JSON.parse(details) as { number: number }).number);
  return { writer, keep, statements, numbers, log, metrics };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const away = (): Problem => Problem.unavailable('The database is not available');

describe('the writer of the audit trail', () => {
  it('writes a line in its columns, and all other fields beside them', async () => {
    const { writer, statements } = setUp();
    writer.keep({
      ...{ event: 'job.killed', outcome: 'done', user: 'alice', group: 'grid_user' },
      ...{ client: 'demo-portal', setup: 'Prod', jids: ['7', '10-12'], big: 2n ** 60n },
    });
    await writer.write();
    const [[line]] = statements as [[StoredAuditLine]];
    expect({ ...line, id: '', details: JSON.parse(line.details) as object }).toEqual({
      ...{ id: '', time: new Date(NOW), instance: 'host:8443', event: 'job.killed' },
      ...{ outcome: 'done', user: 'alice', group: 'grid_user', client: 'demo-portal' },
      details: { setup: 'Prod', jids: ['7', '10-12'], big: '1152921504606846976' },
    });
  });

  it('writes 500 lines in a statement, in their order, and says when there are so many', async () => {
    const { writer, keep, statements, numbers } = setUp();
    let full = 0;
    writer.onFull = () => (full += 1);
    expect(await writer.write()).toBe(undefined);
    keep(1_200);
    expect(full).toBe(2);
    expect([await writer.write(), await writer.write(), await writer.write()]).toEqual([
      ...['more', undefined, undefined],
    ]);
    expect(statements.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(numbers()).toEqual(upTo(1_200));
    const ids = statements.flat().map(({ id }) => id);
    expect([...ids].sort()).toEqual(ids);
  });

  it('keeps the lines of a statement that failed, and gives them the same ids', async () => {
    const tried: string[][] = [];
    let isAway = true;
    const { writer, keep, numbers, log } = setUp((lines) => {
      tried.push(lines.map(({ id }) => id));
      return isAway ? away() : undefined;
    });
    keep(2);
    await expect(writer.write()).rejects.toThrow('not available');
    keep(1);
    isAway = false;
    await writer.write();
    expect(numbers()).toEqual([0, 1, 0]);
    expect(tried[1]?.slice(0, 2)).toEqual(tried[0]);
    expect(log).toEqual([]);
  });

  it('keeps 10,000 lines at most; what comes then is dropped, counted and told', async () => {
    let isAway = true;
    const { writer, keep, numbers, log, metrics } = setUp(() => (isAway ? away() : undefined));
    keep(10_003);
    await expect(writer.write()).rejects.toThrow('not available');
    const { text } = await metrics.render();
    expect(text).toMatch(/^gridgate_audit_dropped_total 3$/m);
    expect(text).toMatch(/^gridgate_audit_waiting 10000$/m);
    isAway = false;
    while ((await writer.write()) === 'more');
    keep(1);
    await writer.write();
    expect(numbers()).toEqual([...upTo(10_000), 0]);
    expect(log).toEqual([
      'lines of the audit trail are from now on in the log only',
      { text: 'lines of the audit trail are in the log only', lines: 3 },
    ]);
  });

  it('keeps 16 MiB at most, however few lines these are', async () => {
    const { writer, keep, numbers, metrics } = setUp();
    keep(200, { paths: Array.from({ length: 50 }, () => 'x'.repeat(3_000)) });
    expect((await metrics.render()).text).toMatch(/^gridgate_audit_dropped_total 89$/m);
    await writer.write();
    keep(1);
    await writer.write();
    expect(numbers()).toEqual([...upTo(111), 0]);
  });

  it('goes on without a line that the database cannot take', async () => {
    const bad = Object.assign(new Error('index row size'), { code: '54000' });
    const { writer, keep, numbers, log } = setUp((lines) =>
      lines.some(({ details }) => details.includes('"number":1}')) ? bad : undefined,
    );
    keep(3);
    await writer.write();
    expect(numbers()).toEqual([0, 2]);
    expect(log).toEqual([
      { text: 'a line of the audit trail cannot be stored', err: bad },
      { text: 'lines of the audit trail are in the log only', lines: 1 },
    ]);
  });

  it('does not take another fault for one of its lines', async () => {
    const gone = Object.assign(new Error('relation does not exist'), { code: '42P01' });
    const { writer, keep, metrics } = setUp(() => gone);
    keep(2);
    await expect(writer.write()).rejects.toBe(gone);
    expect((await metrics.render()).text).toMatch(/^gridgate_audit_waiting 2$/m);
  });

  it('writes at its end what is gathered', async () => {
    const { writer, keep, numbers } = setUp();
    keep(1_200);
    await writer.close();
    expect(numbers()).toEqual(upTo(1_200));
  });

  it('ends also when the database is away, and tells what is missing', async () => {
    const error = away();
    const { writer, keep, log, metrics } = setUp(() => error);
    keep(7);
    await writer.close();
    expect(log).toEqual([
      { text: 'the audit trail could not be written at the end', err: error },
      { text: 'lines of the audit trail are in the log only', lines: 7 },
    ]);
    expect((await metrics.render()).text).toMatch(/^gridgate_audit_waiting 0$/m);
  });

  it('takes out what PostgreSQL does not take and what is too long, and no name for its looks', async () => {
    const { writer, statements } = setUp();
    const name =
      '/vo/code=1/Bearer abcdef12/eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
    writer.keep({
      ...{ event: 'token.issued', outcome: 'refused', client: 'c'.repeat(500), user: 'a\0b' },
      ...{ path: '/a\0\ud800b', long: 'x'.repeat(5_000), list: ['😀'], name },
    });
    await writer.write();
    const [[line]] = statements as [[StoredAuditLine]];
    expect([line.client, line.user]).toEqual([`${'c'.repeat(400)}…`, 'a\ufffdb']);
    expect(JSON.parse(line.details)).toEqual({
      ...{
        path: '/a\ufffd\ufffdb',
        long: `${'x'.repeat(4_000)}…`,
        list: ['😀'],
        name,
      },
    });
  });
});
