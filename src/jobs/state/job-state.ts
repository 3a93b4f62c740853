/** The states of a job, one sentence each; the order is the usual way of a job. */
export const JOB_STATES = {
  Submitting: 'Known, but not confirmed by whoever submits it.',
  Received: 'Accepted; nobody has looked at its input data yet.',
  Checking: 'Its input data is being looked up.',
  Scouting: 'Waits for the result of a scout job.',
  Staging:
    'For input data that must be brought to disk first. Nothing here brings any, so no job comes here.',
  Waiting: 'Ready; waits for a free slot at a site that it allows.',
  Matched: 'Given to a site, but its program has certainly not been started.',
  Rescheduled: 'Passed through on the way back to the queue.',
  Running: 'Its program has been, or is this moment being, started.',
  Stalled: 'No sign of life from whoever runs it.',
  Completing: 'Its program has ended; its output is being collected.',
  Completed: 'Its output is safe.',
  Done: 'Ended well.',
  Failed: 'Ended badly; minor and application status say why.',
  Killed: 'Ended by a person.',
  Deleted: 'Given up for good; nothing moves it any more.',
} as const;

/** Name of a job's state. */
export type JobState = keyof typeof JOB_STATES;

/** All states in the usual order. */
export const JOB_STATE_NAMES = Object.keys(JOB_STATES) as JobState[];

/** The states of jobs that no site has been given yet: those that limits of waiting jobs count. */
export const TO_START: readonly JobState[] = ['Received', 'Checking', 'Waiting'];

/** How clients that know only a few states read ours. */
export type JobStateClass = 'queued' | 'active' | 'final-ok' | 'final-bad';

/** The coarse class of a state, for clients that map ours to their own few. */
export function classOf(state: JobState): JobStateClass {
  switch (state) {
    case 'Done':
      return 'final-ok';
    case 'Failed':
    case 'Killed':
    case 'Deleted':
      return 'final-bad';
    case 'Running':
    case 'Stalled':
    case 'Completing':
    case 'Completed':
      return 'active';
    default:
      return 'queued';
  }
}

/** True when nothing but a person's wish moves the job any more. */
export function isFinal(state: JobState): boolean {
  return classOf(state).startsWith('final');
}

/** True while its program may be at work, or its output is being collected. */
export function isRunning(state: JobState): boolean {
  return ['Running', 'Stalled', 'Completing'].includes(state);
}

/** Minor statuses that the service writes, as constants so that clients may rely on the wording. */
export const MINOR = {
  accepted: 'Job accepted',
  checking: 'InputData optimizer',
  inputDataMissing: 'Input Data Not Available',
  noSites: 'No candidate sites available',
  waiting: 'Pilot Agent Submission',
  heldByOwner: 'Held by its owner',
  heldByAdministrator: 'Held by an administrator',
  waitingForJobs: 'Waiting for other jobs',
  dependencyFailed: 'Dependency failed',
  matched: 'Job Received by Agent',
  inputResolution: 'Input Data Resolution',
  submitting: 'Submitting To CE',
  application: 'Application',
  initialization: 'Job Wrapper Initialization',
  applicationNotFound: 'Application not found',
  finishedWithErrors: 'Application Finished With Errors',
  threadFailed: 'Application thread failed',
  inputSandboxFailed: 'Failed Downloading InputSandbox',
  inputFilesFailed: 'Failed Downloading InputSandbox LFN(s)',
  uploadingOutput: 'Uploading Output Sandbox',
  storingOutputs: 'Uploading Job Outputs',
  outputUploaded: 'Output Sandbox Uploaded',
  resolvingOutput: 'Resolving Output Sandbox',
  complete: 'Execution Complete',
  stalled: 'Watchdog identified this job as stalled',
  pilotGone: 'Job stalled: pilot not running',
  cpuLimit: 'Job has reached the CPU limit of the queue',
  wallClockLimit: 'Job has exceeded maximum wall clock time',
  memoryLimit: 'Job has exceeded maximum memory',
  diskLimit: 'Job has insufficient disk space to continue',
  filesLimit: 'Job has exceeded maximum number of files',
  processLimit: 'Job has exceeded maximum number of processes',
  marked: 'Marked for termination',
  rescheduled: 'Job Rescheduled',
  maxReschedules: 'Maximum of reschedulings reached',
  deleted: 'Checking accounting',
} as const;
