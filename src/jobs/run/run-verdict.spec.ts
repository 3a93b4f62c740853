import { judge } from './run-verdict.js';

const exit = (code: number, cpuSeconds = 1) => ({ code, cpuSeconds, endedAt: new Date(0) });

describe('judge', () => {
  it.each([
    [exit(0), undefined, true, 'Execution Complete', undefined],
    [exit(3), undefined, false, 'Application Finished With Errors', 'Exited with code 3'],
    [exit(139), undefined, false, 'Application thread failed', 'Ended by signal SIGSEGV'],
    [exit(152, 100), undefined, false, 'Job has reached the CPU limit of the queue', 'Used 100 s'],
    [exit(137, 100), undefined, false, 'Job has reached the CPU limit of the queue', 'Used 100 s'],
    [exit(0, 100), undefined, true, 'Execution Complete', undefined],
    [exit(0, 101), undefined, false, 'Job has reached the CPU limit of the queue', 'Used 101 s'],
    [exit(137, 1), undefined, false, 'Application thread failed', 'Ended by signal SIGKILL'],
    [
      exit(153),
      undefined,
      false,
      'Job has insufficient disk space to continue',
      'A file became larger than allowed',
    ],
    [
      undefined,
      undefined,
      false,
      'Job stalled: pilot not running',
      'The processes of the job are gone and left no exit code',
    ],
    [
      undefined,
      'Job has exceeded maximum wall clock time|Ran longer than 5 s',
      false,
      'Job has exceeded maximum wall clock time',
      'Ran longer than 5 s',
    ],
  ])('%j with reason %j', (record, limitReason, isGood, minor, app) => {
    expect(judge(record, limitReason, 100)).toEqual({
      isGood,
      minor,
      ...(app === undefined ? {} : { app }),
    });
  });
});
