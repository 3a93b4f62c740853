import { describe, expect, it } from '@jest/globals';
import { useIn } from './slurm-use.js';

const OF = { jobId: 43, arrayId: 40, index: 3, account: 'jane' };
const STEP = {
  step: { job_id: 43, name: 'batch' },
  time: { elapsed: 20, end: 1_795_209_176, total: { seconds: 30, microseconds: 250_000 } },
  tres: {
    requested: {
      max: [
        { type: 'cpu', name: '', id: 1, count: 30_000 },
        { type: 'mem', name: '', id: 2, count: 104_857_600, task: 0, node: 'n1' },
      ],
    },
  },
};
const EXTERN = { time: { end: 1_795_209_176, total: { seconds: 0, microseconds: 4_000 } } };
const JOB = {
  job_id: 43,
  user: 'jane',
  array: { job_id: 40, task_id: 3 },
  time: { elapsed: 20, end: 1_795_209_176 },
  tres: {
    allocated: [
      { type: 'cpu', name: '', id: 1, count: 2 },
      { type: 'mem', name: '', id: 2, count: 500 },
    ],
  },
  steps: [STEP, EXTERN],
};
const answer = (job: object): { jobs: unknown[] } => ({ jobs: [{ ...JOB, job_id: 42 }, job] });

describe('useIn', () => {
  it('reads CPU time of all steps, the most memory, and what was given', () => {
    expect(useIn(answer(JOB), OF)).toEqual({
      wallSeconds: 20,
      cpuSeconds: 30.254,
      maxRssBytes: 104_857_600,
      processors: 2,
      memoryMb: 500,
    });
  });

  it('reads a job that is no array', () => {
    const plain = { ...JOB, array: { job_id: 0 } };
    const of = { ...OF, arrayId: 43, index: undefined };
    expect(useIn(answer(plain), of)).toMatchObject({ wallSeconds: 20 });
    expect(useIn(answer(plain), { ...of, arrayId: 40 })).toBeUndefined();
  });

  it('reads a job of an account that slurmdbd has no name of', () => {
    expect(useIn(answer({ ...JOB, user: null }), OF)).toMatchObject({ wallSeconds: 20 });
  });

  it.each<[string, object]>([
    ['a job that goes on', { ...JOB, time: { elapsed: 20, end: 0 } }],
    ['a step that goes on', { ...JOB, steps: [{ ...STEP, time: { ...STEP.time, end: 0 } }] }],
    ['a job without steps yet', { ...JOB, steps: [] }],
    ['a job of somebody else', { ...JOB, user: 'john' }],
    ['a task of another array', { ...JOB, array: { job_id: 39, task_id: 3 } }],
    ['another task of the array', { ...JOB, array: { job_id: 40, task_id: 4 } }],
    ['what nobody measured', { ...JOB, steps: [{ time: { end: 1 }, tres: {} }] }],
    ['another job', { ...JOB, job_id: 44 }],
    ['nonsense', { ...JOB, steps: 'x', time: null }],
  ])('says nothing of %s', (_what, job) => {
    expect(useIn(answer(job), OF)).toBeUndefined();
  });
});
