import { describe, expect, it } from '@jest/globals';
import { errorOfCommand, jobsInQueue, submittedId, useInAccounting } from './slurm-text.js';

describe('squeue', () => {
  it('is read: tasks, single jobs, those that wait and those that run', () => {
    const text = [
      '12|10|2|RUNNING|1001|grid|main|node1|None|2026-12-04T10:00:00|grid:7:1:abcd',
      '10|10|3|PENDING|1001|grid|main|n/a|launch failed requeued held|N/A|grid:7:1:abcd',
      '13|13|N/A|COMPLETED|1001|grid|main|node1|None|Unknown|(null)',
      '14|14|N/A|PENDING|1001|grid|main|n/a|Resources|2026-12-04T10:00:01|a|b',
      '',
    ].join('\n');
    const job = { uid: 1001, user: 'grid', partition: 'main', waitingIndices: '' };
    const comment = 'grid:7:1:abcd';
    expect(jobsInQueue(text)).toEqual([
      {
        ...job,
        jobId: 12,
        arrayId: 10,
        index: 2,
        state: 'RUNNING',
        reason: 'None',
        startMs: Date.UTC(2026, 11, 4, 10),
        node: 'node1',
        comment,
      },
      {
        ...{ ...job, jobId: 10, arrayId: 10, index: 3, state: 'PENDING', node: '', comment },
        reason: 'launch failed requeued held',
      },
      {
        ...{ ...job, jobId: 13, arrayId: 13, index: undefined, state: 'COMPLETED' },
        ...{ reason: 'None', node: 'node1', comment: '' },
      },
      {
        ...{ ...job, jobId: 14, arrayId: 14, index: undefined, state: 'PENDING' },
        ...{ reason: 'Resources', node: '', comment: 'a|b' },
        startMs: Date.UTC(2026, 11, 4, 10, 0, 1),
      },
    ]);
  });

  it.each(['', 'Welcome to the cluster', 'x|1|N/A|R|1|u|p|n|r|s|c', '1|1|N/A|R|1|u|p|n|r|s'])(
    'says nothing by %j',
    (text) => {
      expect(jobsInQueue(text)).toEqual([]);
    },
  );
});

describe('sbatch', () => {
  it.each([
    ['17\n', 17],
    ['17;north\n', 17],
    ['', undefined],
    ['Submitted batch job 17', undefined],
    ['17 18', undefined],
    ['-1', undefined],
  ])('answers by %j the id %j', (text, id) => {
    expect(submittedId(text)).toBe(id);
  });
});

describe('commands that fail', () => {
  it.each([
    ['slurm_load_jobs error: Invalid job id specified', 'unknown-job'],
    [
      'scancel: error: Kill job error on job id 9: Job/step already completing or completed',
      'ended',
    ],
    ['scancel: error: Kill job error on job id 9: Access/permission denied', 'denied'],
    ['sbatch: error: Batch job submission failed: Invalid partition name specified', 'refused'],
    [
      'sbatch: error: Batch job submission failed: Requested node configuration is not available',
      'refused',
    ],
    ["sbatch: unrecognized option '--never'", 'refused'],
    ['Slurm accounting storage is disabled', 'refused'],
    [
      'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)',
      'away',
    ],
    ['sbatch: error: Batch job submission failed: Socket timed out on send/recv operation', 'away'],
    [
      'sbatch: error: Batch job submission failed: Slurm temporarily unable to accept job, sleeping and retrying',
      'away',
    ],
    [
      'sbatch: error: Batch job submission failed: Required partition not available (inactive or drained)',
      'away',
    ],
    ['Something that nobody has heard of', 'away'],
    ['', 'away'],
  ])('%j means %s', (text, fault) => {
    expect(errorOfCommand('sbatch', `${text}\n`)).toMatchObject({ fault });
  });

  it('keep the words of Slurm, without the name of the program', () => {
    const text = 'sbatch: error: one\nsbatch: error: Batch job submission failed: two\n';
    expect(errorOfCommand('sbatch', text).message).toBe('one; Batch job submission failed: two');
    expect(errorOfCommand('squeue', ' ').message).toBe('squeue says nothing');
    expect(errorOfCommand('squeue', 'x'.repeat(9_999)).message).toHaveLength(300);
  });
});

describe('sacct', () => {
  const of = { jobId: 12, arrayId: 10, index: 2, account: 'grid' };
  const job =
    '12|10_2|grid|COMPLETED|2026-01-02T03:04:05|10|00:05.500||2|billing=2,cpu=2,mem=1.5G,node=1';
  const step = '12.batch|10_2.batch||COMPLETED|2026-01-02T03:04:05|10|1-01:00:05.250|2048K|2|cpu=2';

  it('tells what a job has used', () => {
    expect(useInAccounting([job, step, ''].join('\n'), of)).toEqual({
      wallSeconds: 10,
      cpuSeconds: 90_005.25,
      processors: 2,
      maxRssBytes: 2 * 2 ** 20,
      memoryMb: 1536,
    });
  });

  it.each([
    ['an unknown job', ''],
    ['a job without steps', job],
    ['a step that runs', `${job}\n${step.replace('2026-01-02T03:04:05', 'Unknown')}`],
    ['a job of another account', `${job.replace('|grid|', '|else|')}\n${step}`],
    ['another task', `${job.replace('10_2', '10_3')}\n${step}`],
    ['nothing measured', `${job}\n${step.replace('1-01:00:05.250|2048K', '00:00.000|')}`],
  ])('says nothing of %s', (_, text) => {
    expect(useInAccounting(text, of)).toBeUndefined();
  });
});
