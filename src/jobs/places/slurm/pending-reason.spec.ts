import { describe, expect, it } from '@jest/globals';
import { waitOf } from './pending-reason.js';
import type { SlurmJob } from './slurm-api.js';

const NOW = Date.UTC(2026, 10, 27, 9);
const AS_OF = '2026-11-27T09:00:00.000Z';

function job(more: Partial<SlurmJob>): SlurmJob {
  return {
    ...{ jobId: 7, arrayId: 7, waitingIndices: '', state: 'PENDING', reason: 'Resources' },
    ...{ comment: 'grid:1:1:x', user: 'griduser', uid: 1001, partition: 'main', node: '' },
    ...more,
  };
}

describe('what Slurm says of a job that waits', () => {
  it.each([
    ['Priority', 'Other jobs in the queue of its partition come before it'],
    ['Resources', 'What it needs is in use by other jobs'],
    ['None', 'Slurm has not looked at it yet'],
    ['Dependency', 'It waits for another Slurm job'],
    ['DependencyNeverSatisfied', 'It waits for a Slurm job that has not ended as it should'],
    ['BeginTime', 'It is not to start before a time that was set for it'],
    ['JobHeldAdmin', 'An administrator of the cluster holds it back'],
    ['JobHeldUser', 'Somebody holds it back with the rights of its account'],
    ['Licenses', 'The licences that it needs are in use'],
    ['Reservation', 'It waits for the begin of its reservation'],
    ['NodeDown', 'A node that it needs is down'],
    ['BadConstraints', 'No node of the cluster can be what it asks for'],
    ['Cleaning', 'What its last start has left is being removed'],
    ['Prolog', 'The prolog of the cluster prepares its node'],
    ['PartitionDown', 'Its partition starts no jobs now'],
    ['PartitionInactive', 'Its partition takes no jobs now'],
    ['JobArrayTaskLimit', 'As many jobs of its array run as may at once'],
    [
      'PartitionTimeLimit',
      'It asks for more time than its partition gives: it does not start until one of both is changed',
    ],
    [
      'PartitionNodeLimit',
      'It asks for more or fewer nodes or processors than its partition gives: it does not start until one of both is changed',
    ],
    ['ReqNodeNotAvail', 'A node that it needs cannot be used now: it is down, drained or reserved'],
    [
      'ReqNodeNotAvail, UnavailableNodes:n[1-4]',
      'A node that it needs cannot be used now: it is down, drained or reserved',
    ],
    [
      'ReqNodeNotAvail, Reserved for maintenance',
      'The nodes that it may use are reserved for maintenance',
    ],
    [
      'Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions',
      'The nodes that it may use are down, drained or reserved',
    ],
    [
      'QOSMaxJobsPerUserLimit',
      'A limit of its quality of service (QOS) is reached: jobs that run must end first',
    ],
    [
      'QOSGrpCpuLimit',
      'A limit of its quality of service (QOS) is reached: jobs that run must end first',
    ],
    [
      'QOSMaxCpuPerJobLimit',
      'It asks for more than its quality of service (QOS) gives a job: it does not start until that is changed',
    ],
    [
      'QOSMaxWallDurationPerJobLimit',
      'It asks for more than its quality of service (QOS) gives a job: it does not start until that is changed',
    ],
    [
      'QOSMinGRES',
      'It asks for less than its quality of service (QOS) wants: it does not start until that is changed',
    ],
    [
      'AssocGrpCPUMinutesLimit',
      'A limit of its Slurm account is reached: jobs that run must end first',
    ],
    ['AssocMaxJobsLimit', 'A limit of its Slurm account is reached: jobs that run must end first'],
    [
      'AssocMaxCpuPerJobLimit',
      'It asks for more than its Slurm account gives a job: it does not start until that is changed',
    ],
    [
      'MaxCpuPerAccount',
      'A limit of its Slurm account or user is reached: jobs that run must end first',
    ],
  ])('is explained by %s', (reason, meaning) => {
    expect(waitOf(job({ reason }), NOW)).toEqual({ reason, meaning, asOf: AS_OF });
  });

  it.each([
    ['SomethingNew', 'SomethingNew'],
    ['Waits (for a while)', 'Waits (for a while)'],
    ['two\nlines\t', 'two lines'],
    ['x'.repeat(500), 'x'.repeat(200)],
  ])('is quoted when it is not known: %j', (reason, shown) => {
    expect(waitOf(job({ reason }), NOW)).toEqual({ reason: shown, asOf: AS_OF });
  });

  it.each([
    [
      "Job's account not permitted to use this partition (long allows physics,cms not grid)",
      { reason: "Job's account not permitted to use this partition", what: 'Slurm account' },
    ],
    [
      "Job's QOS not permitted to use this partition (long denies a,b including c)",
      {
        reason: "Job's QOS not permitted to use this partition",
        what: 'quality of service (QOS)',
      },
    ],
    [
      "Job's account not known, so it can't use this partition (a(b allows physics,cms",
      {
        reason: "Job's account not known, so it can't use this partition",
        what: 'Slurm account',
      },
    ],
    [
      "Job's QOS not good for a partition that allows a,b",
      { reason: "Job's QOS not good for a partition that", what: 'quality of service (QOS)' },
    ],
  ])('names nobody else: %s', (text, { reason, what }) => {
    expect(waitOf(job({ reason: text }), NOW)).toEqual({
      reason,
      meaning: `Its ${what} may not use its partition`,
      asOf: AS_OF,
    });
  });

  it('has an expected start when that is to come', () => {
    const wait = { reason: 'Resources', meaning: 'What it needs is in use by other jobs' };
    expect(waitOf(job({ startMs: NOW + 1_000 }), NOW)).toEqual({
      ...wait,
      expectedStart: '2026-11-27T09:00:01.000Z',
      asOf: AS_OF,
    });
    expect(waitOf(job({ startMs: NOW }), NOW)).toEqual({ ...wait, asOf: AS_OF });
    const down = { reason: 'PartitionDown', startMs: NOW + 1_000 };
    expect(waitOf(job(down), NOW)).not.toHaveProperty('expectedStart');
  });

  it('is the state of one that was started and has not begun', () => {
    expect(
      waitOf(job({ state: 'CONFIGURING', reason: 'None', startMs: NOW + 1_000 }), NOW),
    ).toEqual({
      reason: 'CONFIGURING',
      meaning: 'Slurm has started it; its program has not begun',
      asOf: AS_OF,
    });
  });

  it('is nothing yet without a reason', () => {
    expect(waitOf(job({ reason: '' }), NOW)).toEqual({
      reason: 'None',
      meaning: 'Slurm has not looked at it yet',
      asOf: AS_OF,
    });
  });
});
