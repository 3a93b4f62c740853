import { describe, expect, it } from '@jest/globals';
import { mayTryAgain, verdictOfState, viewOf } from './controller-view.js';
import type { SlurmJob } from './slurm-api.js';

const MARK = 'grid:1:1:x';
const BATCH = { comment: MARK, account: { name: 'griduser', uid: 1001, gid: 1001 } };

function job(more: Partial<SlurmJob>): SlurmJob {
  return {
    jobId: 7,
    arrayId: 7,
    waitingIndices: '',
    state: 'RUNNING',
    reason: 'None',
    comment: MARK,
    user: 'griduser',
    uid: 1001,
    partition: 'main',
    node: 'n1',
    ...more,
  };
}

describe('viewOf', () => {
  it.each([
    ['a running task', job({ index: 3 }), { kind: 'alive' }],
    [
      'a task in the rest of its array',
      job({ waitingIndices: '0,2-4%8', state: 'PENDING' }),
      { kind: 'alive' },
    ],
    ['a task in steps', job({ waitingIndices: '1-9:2', state: 'PENDING' }), { kind: 'alive' }],
    ['a task not in the rest', job({ waitingIndices: '4-9' }), { kind: 'gone', state: '' }],
    ['a job that is no array', job({}), { kind: 'alive' }],
    ['an ended task', job({ index: 3, state: 'TIMEOUT' }), { kind: 'gone', state: 'TIMEOUT' }],
    ['another task', job({ index: 2 }), { kind: 'gone', state: '' }],
    [
      'a start that the controller forgot',
      job({ index: 3, state: 'PENDING', reason: 'JobHeldUser launch failed requeued held' }),
      { kind: 'forgotten' },
    ],
    [
      'a task held by a person',
      job({ index: 3, state: 'PENDING', reason: 'JobHeldUser' }),
      { kind: 'alive' },
    ],
    [
      'an id that was given again',
      job({ index: 3, comment: 'grid:9:1:x' }),
      { kind: 'gone', state: '' },
    ],
    [
      'a job of another account with the same comment',
      job({ index: 3, user: 'mallory', uid: 1002 }),
      { kind: 'gone', state: '' },
    ],
    [
      'a task whose account has only a number there',
      job({ index: 3, user: '' }),
      { kind: 'alive' },
    ],
    [
      'a job of a nameless other account with the same comment',
      job({ index: 3, user: '', uid: 1002 }),
      { kind: 'gone', state: '' },
    ],
  ])('sees %s', (_name, known, view) => {
    const shown = view.kind === 'alive' ? { ...view, job: known } : view;
    expect(viewOf([known], BATCH, 3)).toEqual(shown);
  });
});

describe('verdictOfState', () => {
  it.each([
    ['TIMEOUT', 'Job has exceeded maximum wall clock time'],
    ['OUT_OF_MEMORY', 'Job has exceeded maximum memory'],
    ['NODE_FAIL', 'Job stalled: pilot not running'],
    ['CANCELLED', 'Application thread failed'],
    ['', 'Job stalled: pilot not running'],
  ])('maps %s', (state, minor) => {
    expect(verdictOfState(state)).toMatchObject({ isGood: false, minor });
  });
});

describe('mayTryAgain', () => {
  it('tries what failed before its start, not what somebody ended', () => {
    const states = ['NODE_FAIL', 'BOOT_FAIL', '', 'CANCELLED', 'DEADLINE'];
    expect(states.map(mayTryAgain)).toEqual([true, true, true, false, false]);
  });
});
