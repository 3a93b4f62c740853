import { describe, expect, it } from '@jest/globals';
import { enclosedRun } from './run-members.js';

const RUNS = '/home/grid/jobs/runs';

describe('the run that a program encloses', () => {
  it.each([
    ['a supervisor', `/bin/sh -c script gridgate-job 10 0 100 40  ${RUNS}/7.1/launch`, '7.1'],
    ['unshare', `/usr/bin/unshare --pid -- /bin/sh ${RUNS}/etc/enter ${RUNS}/7.2 root`, '7.2'],
    ['a shell behind it', `/bin/sh ${RUNS}/etc/enter ${RUNS}/7.3 ${RUNS}/etc/root`, '7.3'],
    ['setpriv', `setpriv --reuid=200001 -- /bin/sh ${RUNS}/12.34/launch`, '12.34'],
    ['a program of a job', `/usr/bin/cat ${RUNS}/7.1/launch`, undefined],
    ['a shell that encloses none', `/bin/sh ${RUNS}/etc/enter`, undefined],
    ['a run that is set aside', `/bin/sh ${RUNS}/7.1.gone-x/launch`, undefined],
    ['a run of another directory', `/bin/sh /other/jobs/runs/7.1/launch`, undefined],
  ])('is told by the arguments of %s', (_what, words, name) => {
    expect(enclosedRun(words, RUNS)).toBe(name);
  });
});
