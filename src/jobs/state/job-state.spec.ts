import { classOf, isFinal, JOB_STATE_NAMES, MINOR, type JobState } from './job-state.js';

const CLASSES: Record<string, JobState[]> = {
  queued: [
    'Submitting',
    'Received',
    'Checking',
    'Scouting',
    'Staging',
    'Waiting',
    'Matched',
    'Rescheduled',
  ],
  active: ['Running', 'Stalled', 'Completing', 'Completed'],
  'final-ok': ['Done'],
  'final-bad': ['Failed', 'Killed', 'Deleted'],
};

describe('states of jobs', () => {
  it('have one coarse class each', () => {
    expect(Object.values(CLASSES).flat()).toEqual(JOB_STATE_NAMES);
    for (const [name, states] of Object.entries(CLASSES)) {
      for (const state of states) expect([state, classOf(state)]).toEqual([state, name]);
    }
  });

  it('are final when only a person moves the job any more', () => {
    expect(JOB_STATE_NAMES.filter(isFinal)).toEqual(['Done', 'Failed', 'Killed', 'Deleted']);
  });

  it('come with minor statuses on whose wording clients rely', () => {
    expect(MINOR).toEqual({
      accepted: 'Job accepted',
      checking: 'InputData optimizer',
      inputDataMissing: 'Input Data Not Available',
      inputResolution: 'Input Data Resolution',
      noSites: 'No candidate sites available',
      waiting: 'Pilot Agent Submission',
      matched: 'Job Received by Agent',
      submitting: 'Submitting To CE',
      application: 'Application',
      initialization: 'Job Wrapper Initialization',
      applicationNotFound: 'Application not found',
      finishedWithErrors: 'Application Finished With Errors',
      heldByAdministrator: 'Held by an administrator',
      waitingForJobs: 'Waiting for other jobs',
      dependencyFailed: 'Dependency failed',
      heldByOwner: 'Held by its owner',
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
    });
  });
});
