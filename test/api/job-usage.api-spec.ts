import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { DispatchRepository } from '#src/jobs/matching/dispatch.repository.js';
import type { JobsRepository } from '#src/jobs/state/jobs.repository.js';
import { Database, dataSourceOptions, poolerRules } from '#src/platform/index.js';
import { awaitFinal, parametersOf, submit } from '../support/jobs.js';
import { databaseConnection, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const BUSY = 'end=$(($(date +%s) + 3)); while [ "$(date +%s)" -lt "$end" ]; do :; done';

describe('what a job has used', () => {
  let grid: Grid;
  let alice: GridClient;
  let source: DataSource;
  let repository: DispatchRepository;
  let endSessions: () => Promise<void> = () => Promise.resolve();
  let busy: number;
  let short: number;

  beforeAll(async () => {
    grid = await startGrid();
    alice = await grid.as('alice');
    const connection = databaseConnection(grid.database.name);
    const limits = { poolSize: 1, statementTimeoutSeconds: 20, connectTimeoutSeconds: 5 };
    const options = dataSourceOptions({
      connection: () => connection,
      ...limits,
      entities: [],
      migrations: [],
    });
    source = await new DataSource(options).initialize();
    const clock = { now: () => Date.now() };
    const pooler = poolerRules(connection, { ...limits, sessions: 1 });
    endSessions = async () => pooler?.sessions.end();
    const database = new Database(
      () => source,
      undefined,
      undefined,
      () => pooler,
    );
    repository = new DispatchRepository(database, undefined as unknown as JobsRepository, clock);
    [busy = 0, short = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', BUSY], MaxRAM: 200 },
      { Executable: '/bin/true' },
    ]);
    await awaitFinal(alice, [busy, short]);
  }, 120_000);

  afterAll(async () => {
    await endSessions();
    await source?.destroy();
    await grid?.remove();
  });

  it('stands in its parameters, with the share of what it was given', async () => {
    const parameters = await parametersOf(alice, busy);
    expect(parameters).toMatchObject({
      UsageSource: 'service',
      'WallClockTime(s)': expect.any(Number),
      'TotalCPUTime(s)': expect.any(Number),
      'CPUEfficiency(%)': expect.any(Number),
      'Memory(MB)': expect.any(Number),
      'MemoryEfficiency(%)': expect.any(Number),
    });
    const [wall, cpu, share] = ['WallClockTime(s)', 'TotalCPUTime(s)', 'CPUEfficiency(%)'].map(
      (name) => Number(parameters[name]),
    );
    expect(share).toBeCloseTo(((cpu ?? 0) / (wall ?? 1)) * 100, 0);
    expect(share).toBeGreaterThan(0);
    expect(parameters['MemoryEfficiency(%)']).toBeLessThan(100);
  });

  it('says no share of CPU of a job that took less than a second', async () => {
    const parameters = await parametersOf(alice, short);
    expect(parameters).toMatchObject({ UsageSource: 'service', ExitCode: 0 });
    if (Number(parameters['WallClockTime(s)']) < 1) {
      expect(parameters).not.toHaveProperty('CPUEfficiency(%)');
    }
  });

  it('is told again by an accounting, for this attempt and no other', async () => {
    const before = await parametersOf(alice, short);
    const [row] = await grid.sql<{ attempt: number }>('select attempt from jobs where jid = $1', [
      short,
    ]);
    const attempt = row?.attempt ?? 0;
    const told = { UsageSource: 'slurmdbd', 'TotalCPUTime(s)': 7 };
    await repository.addParameters({ jid: short, attempt: attempt + 1 }, told);
    expect(await parametersOf(alice, short)).toEqual(before);
    await repository.addParameters({ jid: short, attempt }, told);
    expect(await parametersOf(alice, short)).toEqual({ ...before, ...told });
  });

  it('is not told of a job that goes on, nor of one that does not exist', async () => {
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/true', Sites: ['NOWHERE.at.all'] }]);
    const [row] = await grid.sql<{ attempt: number }>('select attempt from jobs where jid = $1', [
      jid,
    ]);
    const told = { UsageSource: 'slurmdbd' };
    await repository.addParameters({ jid, attempt: row?.attempt ?? 0 }, told);
    await repository.addParameters({ jid: 999_999, attempt: 1 }, told);
    expect(await parametersOf(alice, jid)).toEqual({});
    expect(await grid.sql('select from job_parameters where jid = 999999')).toEqual([]);
  });
});
