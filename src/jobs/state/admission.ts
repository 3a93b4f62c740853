import type { Holder } from './job.entity.js';
import { MINOR, type JobState } from './job-state.js';

/** Channel of the change feed that says: there may be work for dispatchers. */
export const WORK_CHANNEL = 'jobs_work';
/** Channel of the change feed that says: a job was killed or taken back; the payload is its id. */
export const STOP_CHANNEL = 'jobs_stop';

/** Channel of the change feed that asks for output of a running job; the payload is the id of the question. */
export const OUTPUT_CHANNEL = 'jobs_output';

/** States of admission. */
export const ADMISSION = { entry: 'Received', checking: 'Checking', admitted: 'Waiting' } as const;

/** One step of a new job with its author. */
export interface AdmissionStep {
  to: JobState;
  minor: string;
  source: string;
}

/** The first states of a job: jobs with input data wait for the catalogue, all others are ready at once. */
export function admissionSteps(hasInputData: boolean, heldBy?: Holder): AdmissionStep[] {
  const received = { to: ADMISSION.entry, minor: MINOR.accepted, source: 'REST' };
  return hasInputData ? [received] : [received, ...admittedSteps(heldBy)];
}

/** What is said of a waiting job that somebody holds back. */
const HELD: Record<Holder, string> = {
  owner: MINOR.heldByOwner,
  administrator: MINOR.heldByAdministrator,
  jobs: MINOR.waitingForJobs,
};

/** The way of a job that may run, from Received on. */
export function admittedSteps(heldBy: Holder | null = null): [AdmissionStep, AdmissionStep] {
  return [
    { to: ADMISSION.checking, minor: MINOR.checking, source: 'Optimizer' },
    {
      to: ADMISSION.admitted,
      minor: heldBy === null ? MINOR.waiting : HELD[heldBy],
      source: 'Optimizer',
    },
  ];
}
