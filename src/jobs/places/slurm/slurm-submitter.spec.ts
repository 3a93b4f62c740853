import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunOrder } from '../../run/executor.js';
import { planOf, RunFault } from '../../run/run-plan.js';
import { RunDirectory, type StoredBatch } from './run-directory.js';
import type { SlurmJob, SlurmSubmission } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import { SlurmRun } from './slurm-run.js';
import { SlurmSubmitter } from './slurm-submitter.js';

const UIDS: Record<string, number> = { jane: 1001, john: 1002, eve: 1003 };
const AWAY = new SlurmError('away', 'slurmrestd does not answer', 0);

/** Which arrays are submitted in whose name; the files are real ones, of the account that runs the test. */
describe('SlurmSubmitter', () => {
  let directory: RunDirectory;
  let submitter: SlurmSubmitter;
  let submitted: { user: string; tasks: number; comment: string }[];
  let refused: [string, string][];
  let tables: Record<string, SlurmJob[]>;
  let asked: string[];
  let away: Set<string>;
  /** For which account Slurm takes a name, where that is not the right one. */
  let taken: Record<string, number>;
  let looks: string[];
  let cancelled: string[];
  let runs: SlurmRun[];
  let nextJid = 1;

  beforeEach(async () => {
    directory = new RunDirectory(await mkdtemp(join(tmpdir(), 'slurm-submitter-')), false);
    await directory.prepare();
    [submitted, refused, tables, asked, away, runs] = [[], [], {}, [], new Set(), []];
    [taken, looks, cancelled] = [{}, [], []];
    const api = (user: string): object => ({
      user,
      as: api,
      get isFailing() {
        return away.has(user);
      },
      submit: async ({ tasks, comment }: SlurmSubmission) => {
        submitted.push({ user, tasks, comment });
        return away.has(user) ? Promise.reject(AWAY) : Promise.resolve(100 + submitted.length);
      },
      job: async (id: number) => {
        looks.push(`${user} ${id}`);
        const { comment = '' } = submitted[id - 101] ?? {};
        const uid = taken[user] ?? UIDS[user] ?? -1;
        const row: Partial<SlurmJob> = { jobId: id, arrayId: id, comment, uid, user: '' };
        return away.has(user) ? Promise.reject(AWAY) : Promise.resolve([row as SlurmJob]);
      },
      cancel: async (id: number) => {
        cancelled.push(`${user} ${id}`);
        return Promise.resolve();
      },
      jobs: async () => {
        asked.push(user);
        return away.has(user) ? Promise.reject(AWAY) : Promise.resolve(tables[user] ?? []);
      },
    });
    const of = async ({ owner }: RunOrder) => {
      const uid = UIDS[owner];
      if (uid === undefined) return Promise.reject(new RunFault('Submitting To CE', owner));
      return Promise.resolve({ name: owner, uid, gid: 100 });
    };
    const logger = { warn: () => undefined, error: () => undefined };
    const config = { jobWallTime: 60, jobMemoryMb: 100, jobOutputBytes: 1_000, slurmBatch: 10 };
    const accounts = { of, givesFiles: false };
    const siteOf = () => Promise.resolve(undefined);
    const parts = { api: api('none'), accounts, config, directory, logger, siteOf };
    submitter = new SlurmSubmitter(parts as unknown as OpenSlurmParts, {
      refused: async (run, { app }) => {
        refused.push([run.order.owner, app]);
        return Promise.resolve();
      },
      stopped: () => Promise.resolve(),
      runsOf: (batch) => runs.filter((run) => run.batch === batch),
    });
  });
  afterEach(async () => {
    await submitter.close();
    await rm(directory.root, { recursive: true });
  });

  const add = (...owners: string[]): SlurmRun[] => {
    const made = owners.map((owner) => {
      const manifest = { Executable: '/bin/true' };
      const rest = { site: 'S', setup: 'Prod', ownerGroup: 'g', cpuTime: 100, inputSandbox: null };
      const order: RunOrder = { jid: (nextJid += 1), attempt: 1, owner, manifest, ...rest };
      return new SlurmRun(order, planOf(order), 0);
    });
    runs.push(...made);
    submitter.add(made);
    return made;
  };
  const until = async (isDone: () => boolean): Promise<void> => {
    const end = Date.now() + 25_000;
    while (!isDone() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isDone()).toBe(true);
  };
  const job = (batch: StoredBatch, more: Partial<SlurmJob> = {}): SlurmJob => ({
    ...{ jobId: 7, arrayId: 7, waitingIndices: '', state: 'PENDING', reason: '' },
    ...{ comment: batch.comment, user: 'jane', uid: 1001, partition: '', node: '' },
    ...more,
  });

  it('puts the jobs of an account into one array, in its name, and never those of two', async () => {
    const made = add('jane', 'john', 'jane', 'john', 'jane');
    await until(() => made.every(({ batch }) => batch?.arrayId !== undefined));
    expect(submitted.map(({ user, tasks }) => [user, tasks])).toEqual([
      ['jane', 3],
      ['john', 2],
    ]);
    const stored = await directory.batches();
    expect(stored.map(({ account, keys }) => [account?.name, keys.length]).sort()).toEqual([
      ['jane', 3],
      ['john', 2],
    ]);
    const uid = userInfo().uid;
    expect(await directory.ownerOf(made[0]?.key ?? '')).toMatchObject({ uid });
  });

  it('refuses the jobs of those who have no account, and no others', async () => {
    const made = add('mallory', 'jane', 'mallory');
    await until(() => made[1]?.batch?.arrayId !== undefined && refused.length === 2);
    expect(refused).toEqual([
      ['mallory', 'mallory'],
      ['mallory', 'mallory'],
    ]);
    expect(submitted).toHaveLength(1);
    expect(await directory.known()).toEqual([made[1]?.key]);
  });

  it('refuses the jobs of an account that Slurm takes for another one, and takes them out', async () => {
    taken['jane'] = 99;
    const [first, second, other] = add('jane', 'jane', 'john');
    await until(() => refused.length === 2 && other?.batch?.arrayId !== undefined);
    const sentence =
      'Slurm takes jane for account 99, and here it is 1001: the cluster lacks the account, or has another number for it';
    expect(refused).toEqual([
      ['jane', sentence],
      ['jane', sentence],
    ]);
    expect(cancelled).toEqual(['jane 101']);
    expect([first, second].map((run) => run?.batch?.arrayId)).toEqual([101, 101]);
    expect((await directory.batches()).map(({ account }) => account?.name)).toEqual(['john']);
    // Known to the cluster by now.
    taken = {};
    const [again] = add('jane');
    await until(() => again?.batch?.arrayId !== undefined);
    expect(refused).toHaveLength(2);
  });

  it('asks once for whom Slurm takes an account', async () => {
    for (let n = 1; n <= 3; n += 1) {
      const [run] = add('jane');
      await until(() => run?.batch?.arrayId === 100 + n);
    }
    expect(looks).toEqual(['jane 101']);
  });

  it('asks whether a submit arrived in the name of its account, and submits only what has not', async () => {
    away.add('jane').add('john');
    const [first, second] = add('jane', 'john');
    await until(() => submitted.length === 2);
    away.clear();
    await until(() => first?.batch !== undefined && second?.batch !== undefined);
    // Somebody else's job with the same comment is not it.
    tables['john'] = second?.batch ? [job(second.batch)] : [];
    tables['jane'] = first?.batch ? [job(first.batch)] : [];
    await Promise.all([submitter.settle(), submitter.settle()]);
    expect(asked).toEqual(['jane', 'john']);
    expect(first?.batch?.arrayId).toBe(7);
    expect(submitted.slice(2).map(({ user }) => user)).toEqual(['john']);
  });

  it('holds nobody up for an account that gets no answer', async () => {
    for (const name of ['jane', 'john', 'eve']) away.add(name);
    const made = add('jane', 'john', 'eve');
    await until(() => submitted.length === 3 && made.every(({ batch }) => batch !== undefined));
    await expect(submitter.settle()).rejects.toBe(AWAY);
    away.delete('eve');
    await submitter.settle();
    expect(made.map(({ batch }) => batch?.arrayId)).toEqual([undefined, undefined, 104]);
    away.clear();
    await submitter.settle();
    expect(made.every(({ batch }) => batch?.arrayId !== undefined)).toBe(true);
  });

  it('submits a batch of an earlier process once, however many of its runs tell of it', async () => {
    const batch: StoredBatch = {
      id: '9-1',
      comment: 'grid:9:1:x',
      shape: { cpus: 1 },
      keys: ['9-1', '10-1'],
      account: { name: 'jane', uid: 1001, gid: 100 },
    };
    await directory.writeBatch(batch);
    const [run] = add('jane');
    await until(() => run?.batch?.arrayId !== undefined);
    if (run) run.batch = batch;
    batch.keys.forEach(() => {
      submitter.adopt(batch);
    });
    await submitter.settle();
    expect(
      submitted.map(({ comment }) => comment).filter((text) => text === batch.comment),
    ).toEqual([batch.comment]);
  });
});
