import { describe, expect, it } from '@jest/globals';
import { Problem, systemClock } from '#src/kernel/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { JobsRepository, Move } from '../state/jobs.repository.js';
import { RunReports } from './run-reports.js';

/** Notes every batch, and answers it as it was told to. */
class Batches {
  readonly seen: string[][] = [];
  private readonly answers: ('away' | 'wrong' | 'none')[];

  constructor(...answers: ('away' | 'wrong' | 'none')[]) {
    this.answers = answers;
  }

  move(moves: readonly Move[]): Promise<unknown[]> {
    this.seen.push(moves.map(({ jid, steps }) => `${jid} ${steps[0].to}`));
    const answer = this.answers.shift();
    if (answer === 'away') return Promise.reject(Problem.unavailable('The database is away'));
    if (answer === 'wrong') return Promise.reject(new Error('wrong'));
    return Promise.resolve(answer === 'none' ? [] : moves.map(({ jid }) => jid));
  }
}

const logger = { error: () => undefined } as unknown as Logger;
const opened = (batches: Batches): RunReports =>
  new RunReports(batches as unknown as JobsRepository, systemClock, logger);
const move = (jid: number, to: Move['steps'][0]['to']): Move => ({
  jid,
  steps: [{ to, minor: '' }],
  source: 'test',
});

describe('RunReports', () => {
  it('writes what is reported in one turn together, and tells each whether its job moved', async () => {
    const batches = new Batches();
    const reports = opened(batches);
    const moved = [1, 2, 3].map((jid) => reports.report(move(jid, 'Running')));
    expect(await Promise.all(moved)).toEqual([true, true, true]);
    expect(batches.seen).toEqual([['1 Running', '2 Running', '3 Running']]);
  });

  it('writes two moves of one job one after the other, in the order of their reports', async () => {
    const batches = new Batches('none');
    const reports = opened(batches);
    const moved = [
      reports.report(move(1, 'Rescheduled')),
      reports.report(move(2, 'Running')),
      reports.report(move(1, 'Running')),
      reports.report(move(1, 'Done')),
    ];
    expect(await Promise.all(moved)).toEqual([false, false, true, true]);
    expect(batches.seen).toEqual([['1 Rescheduled', '2 Running'], ['1 Running'], ['1 Done']]);
  });

  it('does not mix what waited for the database with what the job reports since then', async () => {
    const batches = new Batches('away', 'none');
    const reports = opened(batches);
    const late = reports.report(move(1, 'Rescheduled'));
    while (batches.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const begun = reports.report(move(1, 'Running'));
    expect(await Promise.all([late, begun])).toEqual([false, true]);
    expect(batches.seen).toEqual([['1 Rescheduled'], ['1 Rescheduled'], ['1 Running']]);
  });

  it('writes each alone when the batch is refused, so that one does not stop the others', async () => {
    const batches = new Batches('wrong', 'wrong');
    const reports = opened(batches);
    const moved = await Promise.allSettled([
      reports.report(move(1, 'Running')),
      reports.report(move(2, 'Running')),
    ]);
    expect(moved).toEqual([
      { status: 'rejected', reason: new Error('wrong') },
      { status: 'fulfilled', value: true },
    ]);
    expect(batches.seen).toEqual([['1 Running', '2 Running'], ['1 Running'], ['2 Running']]);
  });

  it('refuses what cannot be written once it is closed', async () => {
    const reports = opened(new Batches('away'));
    const report = reports.report(move(1, 'Running'));
    const closed = reports.close();
    await expect(report).rejects.toThrow('The database is away');
    await closed;
  });
});
