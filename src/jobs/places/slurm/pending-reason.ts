import type { BatchWait } from '../../state/batch-wait.js';
import type { SlurmJob } from './slurm-api.js';

const MOST_CHARACTERS = 200;

/** In these states a job has not been started, or not again. */
const QUEUED: ReadonlySet<string> = new Set([
  ...['PENDING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD'],
]);

/**
 * What the reasons mean that Slurm gives for a job that waits (squeue, "JOB REASON CODES"; the texts with blanks are what its
 * scheduler writes in their place). The first one that fits counts.
 */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^None$/, 'Slurm has not looked at it yet'],
  [/^Priority$/, 'Other jobs in the queue of its partition come before it'],
  [/^Resources$/, 'What it needs is in use by other jobs'],
  [/^DependencyNeverSatisfied$/, 'It waits for a Slurm job that has not ended as it should'],
  [/^Dependency$/, 'It waits for another Slurm job'],
  [/^BeginTime$/, 'It is not to start before a time that was set for it'],
  [/^JobHeldAdmin$/, 'An administrator of the cluster holds it back'],
  [/^JobHeldUser$/, 'Somebody holds it back with the rights of its account'],
  [/^JobHoldMaxRequeue$/, 'It is held since it was queued again too often'],
  [
    /^ReqNodeNotAvail, Reserved for maintenance/,
    'The nodes that it may use are reserved for maintenance',
  ],
  [/^ReqNodeNotAvail/, 'A node that it needs cannot be used now: it is down, drained or reserved'],
  [/^Nodes required for job are DOWN/, 'The nodes that it may use are down, drained or reserved'],
  [/^(?:NodeDown|FrontEndDown)$/, 'A node that it needs is down'],
  [/^PartitionDown$/, 'Its partition starts no jobs now'],
  [/^PartitionInactive$/, 'Its partition takes no jobs now'],
  [
    /^PartitionTimeLimit$/,
    'It asks for more time than its partition gives: it does not start until one of both is changed',
  ],
  [
    /^PartitionNodeLimit$/,
    'It asks for more or fewer nodes or processors than its partition gives: it does not start until one of both is changed',
  ],
  [/^PartitionConfig$/, 'Its partition cannot give what it asks for'],
  [/^BadConstraints$/, 'No node of the cluster can be what it asks for'],
  [/^Licenses$/, 'The licences that it needs are in use'],
  [/^Reservation$/, 'It waits for the begin of its reservation'],
  [/^ReservationDeleted$/, 'Its reservation was removed'],
  [/^Cleaning$/, 'What its last start has left is being removed'],
  [/^Prolog$/, 'The prolog of the cluster prepares its node'],
  [/^JobArrayTaskLimit$/, 'As many jobs of its array run as may at once'],
  [/^BurstBuffer/, 'The burst buffer that it needs is not ready'],
  [/^SchedDefer$/, 'The cluster starts jobs only in the next round of its scheduler'],
  [/^DeadLine$/, 'It could not end before its deadline'],
  [/^Power/, 'The nodes that it needs must not take more power now'],
  [/^InvalidAccount$/, 'The Slurm account that was set for it is not valid'],
  [/^InvalidQOS$/, 'The quality of service (QOS) that was set for it is not valid'],
  [/^(?:AccountNotAllowed$|Job's account )/, 'Its Slurm account may not use its partition'],
  [/^(?:QOSNotAllowed$|Job's QOS )/, 'Its quality of service (QOS) may not use its partition'],
  [
    /^QOSUsageThreshold$/,
    'The quality of service (QOS) that it uses has had less use than it must',
  ],
  [
    /^QOSMin/,
    'It asks for less than its quality of service (QOS) wants: it does not start until that is changed',
  ],
  [
    /^(?:QOSMax.*Per(?:Job|Node)|QOSMaxWall|QOSTimeLimit|QOSResourceLimit)/,
    'It asks for more than its quality of service (QOS) gives a job: it does not start until that is changed',
  ],
  [
    /^QOS.*Limit/,
    'A limit of its quality of service (QOS) is reached: jobs that run must end first',
  ],
  [
    /^(?:AssocMax.*Per(?:Job|Node)|AssocMaxWall|AssociationTimeLimit|AssociationResourceLimit)/,
    'It asks for more than its Slurm account gives a job: it does not start until that is changed',
  ],
  [/^Assoc.*Limit/, 'A limit of its Slurm account is reached: jobs that run must end first'],
  [
    /^Max.*Per(?:Account|User)/,
    'A limit of its Slurm account or user is reached: jobs that run must end first',
  ],
  [/^AccountingPolicy$/, 'A limit of the accounting is reached'],
];

/** With these reasons it does not start by itself; the start that Slurm shows is one that it expected before. */
const STUCK =
  /^(?:Partition|JobHeld|JobHold|Job's |BadConstraints|Invalid|AccountNotAllowed|QOSNotAllowed|ReservationDeleted|DependencyNever|DeadLine)/;

/** What Slurm says of a job whose program has not begun. */
export function waitOf({ state, reason, startMs }: SlurmJob, nowMs: number): BatchWait {
  const asOf = new Date(nowMs).toISOString();
  if (!QUEUED.has(state)) {
    return { reason: state, meaning: 'Slurm has started it; its program has not begun', asOf };
  }
  const words = shown(reason) || 'None';
  const isExpected = startMs !== undefined && startMs > nowMs && !STUCK.test(words);
  const meaning = MEANINGS.find(([form]) => form.test(words))?.[1];
  return {
    reason: words,
    ...(meaning !== undefined && { meaning }),
    ...(isExpected && { expectedStart: new Date(startMs).toISOString() }),
    asOf,
  };
}

/** Slurm lists the accounts or QOS that may use a partition: names of other communities, which are nobody else's business. */
function shown(reason: string): string {
  // eslint-disable-next-line no-control-regex -- those that would break the line
  const words = reason.slice(0, MOST_CHARACTERS).replaceAll(/[\x00-\x1f\x7f]/g, ' ');
  const own = / (?:allows|denies) /.test(words)
    ? words.split(/\(| (?:allows|denies) /, 1)
    : [words];
  return own.join('').trim();
}
