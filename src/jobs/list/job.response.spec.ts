import type { Job } from '../state/job.entity.js';
import { JOB_ATTRIBUTES } from './job-attributes.js';
import { JobResponse } from './job.response.js';

const AT = new Date('2026-01-02T03:04:05.678Z');
const JOB: Job = {
  jid: 7,
  setup: 'Prod',
  owner: 'alice',
  ownerDn: '/CN=alice',
  ownerGroup: 'grid_user',
  vo: 'vo',
  status: 'Running',
  minorStatus: 'Application',
  appStatus: 'Unknown',
  name: 'hello',
  jobGroup: '0',
  jobType: 'User',
  site: 'A',
  priority: 1,
  cpuTime: 100,
  reschedules: 0,
  arrayId: 12,
  wantedSites: [],
  bannedSites: [],
  verified: true,
  retrieved: false,
  accounted: false,
  inputSandbox: null,
  outputSandbox: null,
  submissionTime: AT,
  lastUpdate: AT,
  heartBeat: new Date(AT.getTime() + 1),
  startExecution: AT,
  endExecution: AT,
  rescheduleTime: AT,
  executor: null,
  attempt: 1,
  heldBy: null,
  runReference: null,
  batchWait: null,
};

const wires = (wanted: (type: string) => boolean): string[] =>
  JOB_ATTRIBUTES.filter(({ type }) => wanted(type)).map(({ wire }) => wire);

describe('the record of a job', () => {
  it('has every attribute of the table, and nothing else', () => {
    const { flags, times, ...rest } = JobResponse.from(JOB);
    expect(Object.keys(flags)).toEqual(wires((type) => type === 'boolean'));
    expect(Object.keys(times).sort()).toEqual(wires((type) => type === 'time').sort());
    expect(Object.keys(rest)).toEqual(wires((type) => type !== 'boolean' && type !== 'time'));
  });

  it('leaves out what has not happened, and an organisation and an array that are none', () => {
    const never = { heartBeat: null, startExecution: null, endExecution: null };
    const record = JobResponse.from({
      ...JOB,
      ...never,
      rescheduleTime: null,
      vo: '',
      arrayId: null,
    });
    expect(Object.keys(record)).not.toContain('vo');
    expect(Object.keys(record)).not.toContain('arrayId');
    const at = AT.toISOString();
    expect(record.times).toEqual({ submission: at, lastUpdate: at, lastSOL: at });
  });
});
