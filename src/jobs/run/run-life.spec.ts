import { describe, expect, it } from '@jest/globals';
import { MachineFault } from '#src/kernel/index.js';
import type { Move } from '../state/jobs.repository.js';
import { RunLife, type LifeParts, type Run, type RunPlace } from './run-life.js';
import { RunOutcomes, type OutcomeParts } from './run-outcomes.js';
import { RunFault } from './run-plan.js';

const FULL = Object.assign(new Error('write'), { code: 'ENOSPC' });

/** A life whose moves are kept, of a job that was given back so often because of the machine. */
function lifeOf(givenBack = 0): { life: RunLife<Run>; told: () => string[] } {
  const moves: Move[] = [];
  const parts = {
    clock: { now: () => 0 },
    tokens: { end: () => Promise.resolve() },
    repository: {
      release: () => Promise.resolve(),
      countGivenBack: () => Promise.resolve(givenBack),
    },
    reports: {
      report: (move: Move) => {
        if (!move.from?.includes('Stalled')) moves.push(move);
        return Promise.resolve(true);
      },
    },
  } as unknown as OutcomeParts;
  const life = { logger: { error: () => undefined } } as unknown as LifeParts;
  const place = { remove: () => Promise.resolve() } as unknown as RunPlace<Run>;
  const service = new RunOutcomes(parts, { id: 'executor', source: 'test' });
  const told = (): string[] =>
    moves.flatMap(({ steps }) => steps.map(({ to, app }) => `${to}: ${app ?? ''}`));
  return { life: new RunLife(life, place, service), told };
}

const runOf = (attempt: number): Run =>
  ({ order: { jid: 1, attempt, manifest: {} } }) as unknown as Run;
const FAULT = 'Not started by a fault of the machine';

describe('a run that cannot be started', () => {
  it.each<[string, unknown, string[]]>([
    ['its disk is full', FULL, [`Rescheduled: ${FAULT}: its disk is full`, 'Waiting: ']],
    [
      'its input does not fit the disk',
      new RunFault('Input', 'It cannot be unpacked', { cause: FULL }),
      [`Rescheduled: ${FAULT}: its disk is full`, 'Waiting: '],
    ],
    [
      'no account is free',
      new MachineFault('no account is free'),
      [`Rescheduled: ${FAULT}: no account is free`, 'Waiting: '],
    ],
    [
      'it has a fault of its own',
      new RunFault('Input', 'It is not in the store'),
      ['Failed: It is not in the store'],
    ],
    ['the program has a fault', new TypeError('x'), ['Failed: The job could not be started']],
  ])('since %s', async (_why, error, told) => {
    const seen = lifeOf();
    await seen.life.refuse(runOf(1_000), error);
    expect(seen.told()).toEqual(told);
  });

  it.each([
    [20, 0, ['Rescheduled: why', 'Waiting: ']],
    [21, 0, ['Failed: Given back too often: why']],
    [21, 1, ['Rescheduled: why', 'Waiting: ']],
    [500, 480, ['Rescheduled: why', 'Waiting: ']],
    [500, 479, ['Failed: Given back too often: why']],
  ])('at attempt %d, of which the machine is to blame for %d', async (attempt, machine, told) => {
    const seen = lifeOf(machine);
    await seen.life.requeue(runOf(attempt), 'why');
    expect(seen.told()).toEqual(told);
  });
});

describe('the end of a run', () => {
  it('is not written, and nothing is let go of, when its job is under way and cannot be ended', async () => {
    let tries = 0;
    const released: unknown[] = [];
    const parts = {
      config: {},
      tokens: { end: () => Promise.resolve() },
      reports: { report: () => Promise.resolve((tries += 1) < 0) },
      repository: {
        isUnderWay: () => Promise.resolve(true),
        release: (run: unknown, left: unknown) => Promise.resolve(released.push([run, left])),
      },
    } as unknown as OutcomeParts;
    const service = new RunOutcomes(parts, { id: 'executor', source: 'test' });
    const end = { endedAt: new Date(0), usage: undefined, parameters: {} };
    const ended = service.ended(runOf(1).order, end);
    await expect(ended).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(tries).toBe(6);
    expect(released).toEqual([]);
  });
});
