import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { enclosedRun, orphansOf } from './run-members.js';

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

describe('the orphans of runs that are over', () => {
  it('are not those of a run that has begun since it was asked which are alive', () => {
    const directory = mkdtempSync(join(tmpdir(), 'gridgate-orphans-'));
    const children = ['7.1', '7.2', '7.3'].map((run) =>
      spawn('/bin/sh', ['-c', 'read word', join(directory, run, 'launch')]),
    );
    try {
      const processes = children.map(({ pid = 0 }) => ({ pid }));
      const look = (): { pid: number }[] => {
        mkdirSync(join(directory, '7.2'));
        return processes;
      };
      expect(orphansOf(directory, new Set(['7.3']), look)).toEqual([processes[0]?.pid]);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      rmSync(directory, { recursive: true });
    }
  });
});
