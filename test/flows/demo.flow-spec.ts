import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startDemo, type Demo } from '../support/demo-process.js';
import { describeWith, has } from '../support/missing.js';
import { runningProcesses } from '../support/processes.js';

const STEPS = [
  'A token',
  'A job with two input files',
  'Watch it',
  'Fetch and unpack its output',
  'Search the catalogue',
  'Which values are compatible',
];

describe('npm run demo', () => {
  let demo: Demo;

  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => demo?.remove());

  it('walks through the main job on embedded defaults, without a complaint', () => {
    const shown = demo.shown();
    expect(demo.complaints()).toBe('');
    for (const step of STEPS) expect(shown).toContain(step);
    expect(shown).toMatch(/word-count Done \(Execution Complete\) at LOCAL\./);
    expect(shown).toMatch(/counts\.txt:\n +3 muon\n +2 electron\n +1 photon\n/);
    for (const place of ['/portal/', '/docs', '/docs/openapi.json', '/health/ready']) {
      expect(shown).toContain(`${demo.url}${place}`);
    }
  });

  describeWith({ met: has('curl'), name: 'curl' })('the curl lines that it prints', () => {
    it('do the same', async () => {
      const lines = [...demo.shown().matchAll(/^\s*\$ (curl .+)$/gm)];
      expect(lines).toHaveLength(STEPS.length);
      for (const [, line = ''] of lines) {
        const { stdout } = await promisify(execFile)('sh', ['-ec', line.replace('-sS', '-sSf')]);
        expect(stdout).toMatch(/^(\{.*\}\s*|[\w./-]+\n)+$/s);
      }
    });
  });

  it('ends with Ctrl-C, and its database with it', async () => {
    demo.process.kill('SIGINT');
    const [code] = (await once(demo.process, 'exit')) as [number];
    expect(code).toBe(0);
    const left = runningProcesses().filter(({ command }) => command.includes(demo.folder));
    expect(left).toEqual([]);
  });
});
