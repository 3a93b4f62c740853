import {
  ADMISSION,
  admissionSteps,
  admittedSteps,
  OUTPUT_CHANNEL,
  STOP_CHANNEL,
  WORK_CHANNEL,
} from './admission.js';
import { mayMove } from './job-transitions.js';

const RECEIVED = { to: 'Received', minor: 'Job accepted', source: 'REST' };
const ADMITTED = [
  { to: 'Checking', minor: 'InputData optimizer', source: 'Optimizer' },
  { to: 'Waiting', minor: 'Pilot Agent Submission', source: 'Optimizer' },
];

describe('admission', () => {
  it('leads a job without input data to Waiting at once', () => {
    expect(admissionSteps(false)).toEqual([RECEIVED, ...ADMITTED]);
  });

  it('leaves a job with input data in Received', () => {
    expect(admissionSteps(true)).toEqual([RECEIVED]);
    expect(admittedSteps()).toEqual(ADMITTED);
  });

  it.each([
    ['owner', 'Held by its owner'],
    ['administrator', 'Held by an administrator'],
    ['jobs', 'Waiting for other jobs'],
  ] as const)('says of a job that is held by %s what it waits for', (heldBy, minor) => {
    expect(admittedSteps(heldBy)[1]).toEqual({ to: 'Waiting', minor, source: 'Optimizer' });
  });

  it('goes a way that the table of moves has', () => {
    expect(ADMISSION).toEqual({ entry: 'Received', checking: 'Checking', admitted: 'Waiting' });
    expect(mayMove(ADMISSION.entry, ADMISSION.checking)).toBe(true);
    expect(mayMove(ADMISSION.checking, ADMISSION.admitted)).toBe(true);
  });

  it('announces itself to instances of the version before and after under the same names', () => {
    expect([WORK_CHANNEL, STOP_CHANNEL, OUTPUT_CHANNEL]).toEqual([
      'jobs_work',
      'jobs_stop',
      'jobs_output',
    ]);
  });
});
