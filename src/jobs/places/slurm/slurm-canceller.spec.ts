import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BatchAccount } from './batch-accounts.js';
import type { StoredBatch } from './run-directory.js';
import type { SlurmJob } from './slurm-api.js';
import { SlurmCanceller } from './slurm-canceller.js';
import { SlurmError } from './slurm-error.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

const MARK = 'm4rk';
const JANE = { name: 'jane', uid: 1001, gid: 100 };
const JOHN = { name: 'john', uid: 1002, gid: 100 };
const AWAY = new SlurmError('away', 'slurmrestd does not answer', 0);

/** In whose name Slurm is told to end what. */
describe('SlurmCanceller', () => {
  let told: string[];
  let asked: string[];
  let isPrivate: boolean;
  let away: string[];
  let table: SlurmJob[];
  let time: { ms: number };
  let canceller: SlurmCanceller;
  let isWanted: boolean;

  beforeEach(() => {
    [told, asked, isPrivate, away, table, time, isWanted] = [
      [],
      [],
      false,
      [],
      [],
      { ms: 0 },
      true,
    ];
    const shown = async (user: string, jobs: SlurmJob[]): Promise<SlurmJob[]> => {
      if (away.includes(user)) return Promise.reject(AWAY);
      return Promise.resolve(jobs.filter((job) => !isPrivate || job.user === user));
    };
    const as = (user: string): object => ({
      user,
      as,
      lastFaultMs: 0,
      isFailing: false,
      job: async (id: number) =>
        shown(
          user,
          table.filter(({ arrayId }) => arrayId === id),
        ),
      jobs: async () => {
        asked.push(user);
        return shown(user, table);
      },
      cancel: async (arrayId: number, index?: number) => {
        told.push(`${user} ${arrayId}${index === undefined ? '' : `_${index}`}`);
        return Promise.resolve();
      },
    });
    const parts = {
      accounts: { only: undefined },
      api: as('griduser'),
      clock: { now: () => time.ms },
      directory: { mark: MARK },
      logger: { warn: () => undefined },
    };
    canceller = new SlurmCanceller(parts as unknown as OpenSlurmParts, () => isWanted);
  });

  const batch = (arrayId: number, account: BatchAccount | undefined, tasks = 2): StoredBatch => ({
    id: `${arrayId}-1`,
    comment: `grid:${arrayId}:1:${MARK}`,
    shape: { cpus: 1 },
    keys: Array.from({ length: tasks }, (_, n) => `${arrayId + n}-1`),
    arrayId,
    ...(account === undefined ? {} : { account }),
  });
  const job = (of: StoredBatch, more: Partial<SlurmJob> = {}): SlurmJob => ({
    ...{ jobId: (of.arrayId ?? 0) + 1, arrayId: of.arrayId ?? 0, index: 1, waitingIndices: '' },
    ...{ state: 'PENDING', reason: '', comment: of.comment, partition: '', node: '' },
    ...{ user: of.account?.name ?? 'griduser', uid: of.account?.uid ?? 1000 },
    ...more,
  });
  const run = (of: StoredBatch, index: number): SlurmRun =>
    ({ batch: of, account: of.account, index, isStopped: false }) as unknown as SlurmRun;

  it('ends single tasks, and arrays that nobody wants, each in the name of their account', async () => {
    isPrivate = true;
    const [first, second, old] = [batch(10, JANE), batch(20, JOHN), batch(30, undefined)];
    table = [job(first), job(second), job(old)];
    canceller.add(first, 1);
    canceller.add(second, 0);
    canceller.add(old, 0);
    await canceller.flush();
    expect(told).toEqual(['jane 10_1', 'john 20_0', 'griduser 30_0']);
    isWanted = false;
    canceller.add(first, 0);
    await canceller.flush();
    expect(told.slice(3)).toEqual(['jane 10']);
  });

  it('ends nothing that only bears the comment of a batch', async () => {
    const first = batch(10, JANE);
    table = [job(first, { user: 'mallory', uid: 1666 })];
    canceller.add(first, 1);
    await canceller.flush();
    expect(told).toEqual([]);
  });

  it('keeps what one account cannot tell, and tells the rest', async () => {
    const [first, second] = [batch(10, JANE), batch(20, JOHN)];
    table = [job(first), job(second)];
    away = ['jane'];
    canceller.add(first, 1);
    canceller.add(second, 1);
    await canceller.flush();
    expect(told).toEqual(['john 20_1']);
    away = [];
    await canceller.flush();
    expect(told.slice(1)).toEqual(['jane 10_1']);
  });

  describe('tidy', () => {
    const tidy = async (runs: SlurmRun[]): Promise<void> => {
      time.ms += 20_000;
      await canceller.tidy(runs);
    };

    it('takes out what a controller has queued again, in the name of each account', async () => {
      const [first, second] = [batch(10, JANE), batch(20, JOHN)];
      table = [job(first, { index: 0, jobId: 1 }), job(first), job(second, { user: '' })];
      await tidy([run(first, 0), run(second, 0)]);
      expect(told.sort()).toEqual(['jane 10_1', 'john 20_1']);
      // Jane is shown jobs of others, so her table has them all.
      expect(asked).toEqual(['jane']);
    });

    it('asks each account where jobs are private, also when one gets no answer', async () => {
      isPrivate = true;
      away = ['jane'];
      const [first, second] = [batch(10, JANE), batch(20, JOHN)];
      table = [job(first), job(second)];
      await tidy([run(first, 0), run(second, 0)]);
      expect(asked).toEqual(['jane', 'john']);
      expect(told).toEqual(['john 20_1']);
    });

    it('speaks in the name of no account under which nothing of ours has run', async () => {
      const [first, foreign] = [batch(10, JANE), batch(20, { name: 'root', uid: 0, gid: 0 })];
      table = [job(foreign), job(first, { comment: 'grid:10:1:other' })];
      await tidy([run(first, 0)]);
      expect(told).toEqual([]);
    });
  });
});
