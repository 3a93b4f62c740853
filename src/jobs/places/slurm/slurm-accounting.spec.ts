import { describe, expect, it } from '@jest/globals';
import type { ExitRecord } from './run-record.js';
import { SlurmAccounting } from './slurm-accounting.js';
import { SlurmError } from './slurm-error.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';
import type { BatchUse, UseOf } from './slurm-use.js';

const USE: BatchUse = { wallSeconds: 10, cpuSeconds: 5, processors: 1 };
const RECORD = { batchId: '43' } as ExitRecord;
const run = (jid: number, name = 'jane', keys = ['1-1', '2-1']) =>
  ({
    order: { jid, attempt: 1 },
    account: { name, uid: 1001, gid: 100 },
    batch: { arrayId: 40, keys },
    index: 1,
  }) as unknown as SlurmRun;

/** The accounting with a clock of its own and an answer that the test chooses; `look` waits for what it began. */
function open(answer: (of: UseOf, user: string) => BatchUse | undefined) {
  const time = { ms: 0 };
  const kept: unknown[] = [];
  const asked: [number, string, UseOf][] = [];
  const logger = { info: () => undefined, debug: () => undefined };
  const as = (user: string) => ({
    use: async (of: UseOf): Promise<BatchUse | undefined> => {
      asked.push([time.ms, user, of]);
      return Promise.resolve(answer(of, user));
    },
  });
  const repository = {
    correctUse: () => Promise.resolve(),
    addParameters: async (of: object, parameters: object) => {
      kept.push([of, parameters]);
      return Promise.resolve();
    },
  };
  const clock = { now: () => time.ms };
  const config = { energyProcessorWatts: 0, energyMemoryWatts: 0, energyPue: 1 };
  const parts = { config, clock, logger, api: { as }, repository } as unknown as OpenSlurmParts;
  const accounting = new SlurmAccounting(parts);
  const lookAt = async (ms: number): Promise<void> => {
    time.ms = ms;
    accounting.look();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { accounting, kept, asked, lookAt };
}

describe('SlurmAccounting', () => {
  it('keeps what the accounting says, asked in the name of the account about the very task', async () => {
    const { accounting, kept, asked, lookAt } = open(() => USE);
    accounting.add(run(7), RECORD);
    await lookAt(1_000);
    expect(asked).toEqual([]);
    await lookAt(2_000);
    await lookAt(9_000);
    const of = { jobId: 43, arrayId: 40, index: 1, account: 'jane' };
    expect(asked).toEqual([[2_000, 'jane', of]]);
    expect(kept).toEqual([
      [
        { jid: 7, attempt: 1 },
        {
          UsageSource: 'slurmdbd',
          'WallClockTime(s)': 10,
          'TotalCPUTime(s)': 5,
          'CPUEfficiency(%)': 50,
          'Energy(Wh)': 0,
        },
      ],
    ]);
  });

  it('asks about a job that is no array without an index', async () => {
    const { accounting, asked, lookAt } = open(() => USE);
    accounting.add(run(7, 'jane', ['1-1']), RECORD);
    await lookAt(2_000);
    expect(asked[0]?.[2]).toMatchObject({ index: undefined });
  });

  it('asks with growing pauses for five minutes, then leaves what the wrapper measured', async () => {
    const { accounting, kept, asked, lookAt } = open(() => undefined);
    accounting.add(run(7), RECORD);
    for (let ms = 0; ms <= 600_000; ms += 1_000) await lookAt(ms);
    expect(asked.map(([ms]) => ms / 1_000)).toEqual([2, 6, 14, 30, 62, 126, 254]);
    expect(kept).toEqual([]);
  });

  it('asks again after a fault', async () => {
    let isAway = true;
    const { accounting, kept, lookAt } = open(() => {
      if (isAway) throw new SlurmError('away', 'slurmdbd is away', 0);
      return USE;
    });
    accounting.add(run(7), RECORD);
    await lookAt(2_000);
    isAway = false;
    await lookAt(6_000);
    expect(kept).toHaveLength(1);
  });

  it('asks nothing for ten minutes where there is no accounting', async () => {
    const { accounting, asked, lookAt } = open(() => {
      throw new SlurmError('refused', 'slurmrestd does not understand the request (404)', 0);
    });
    for (let jid = 1; jid <= 9; jid += 1) accounting.add(run(jid), RECORD);
    await lookAt(2_000);
    expect(asked.length).toBeLessThanOrEqual(4);
    const before = asked.length;
    accounting.add(run(10), RECORD);
    await lookAt(500_000);
    expect(asked.length).toBe(before);
    await lookAt(603_000);
    accounting.add(run(11), RECORD);
    await lookAt(605_000);
    expect(asked.length).toBe(before + 1);
  });

  it.each<[string, SlurmRun, ExitRecord | undefined]>([
    ['no record', run(7), undefined],
    ['a record without a number of Slurm', run(7), { batchId: '' } as ExitRecord],
    ['no account', { ...run(7), account: undefined } as unknown as SlurmRun, RECORD],
    ['no array', { ...run(7), batch: { keys: [] } } as unknown as SlurmRun, RECORD],
  ])('asks nothing about a run with %s', async (_what, one, record) => {
    const { accounting, asked, lookAt } = open(() => USE);
    accounting.add(one, record);
    await lookAt(2_000);
    expect(asked).toEqual([]);
  });
});
