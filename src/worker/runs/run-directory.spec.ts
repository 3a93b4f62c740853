import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { supervisorCommand } from '../isolation/supervisor.js';
import { RunDirectory } from './run-directory.js';

const LIMITS = { cpuSeconds: 10, memoryKiB: undefined, fileBlocks: 1000, openFiles: 100 };
const TIMES = '0m0.00s 0m0.01s\n1m1.50s 0m0.25s\n';
const ENDED = new Date('2026-01-02T03:04:05Z');

let home: string;
let directory: RunDirectory;

function put(name: string, text: string): void {
  const path = join(directory.path, name);
  writeFileSync(path, text);
  utimesSync(path, ENDED, ENDED);
}

/** Runs a supervisor to its end. */
function supervise(script: string, filter?: string): void {
  const command = ['/bin/sh', '-c', script];
  const [program = '', ...words] = supervisorCommand({ ...LIMITS, command, filter });
  // Its last act ends its process group.
  spawnSync('setsid', ['-w', program, ...words], { cwd: directory.path });
}

describe('the directory of a run', () => {
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gridgate-run-'));
    directory = new RunDirectory(join(home, '7-1'));
    directory.create(false);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('tells when its program began, also when that has ended', () => {
    const before = Date.now() - 1000; // clocks of files are coarse
    supervise('sleep 0.2');
    expect(directory.startedMs()).toBeGreaterThan(before);
    expect(directory.startWrittenMs()).toBeGreaterThan((directory.startedMs() ?? 0) + 100);
  });

  it('has all that the supervisor says in one file', () => {
    supervise('exit 7');
    expect(readdirSync(directory.path).sort()).toEqual(['started', 'tmp', 'work']);
    expect(directory.start()).toEqual({
      pid: expect.any(Number),
      startTicks: expect.stringMatching(/^\d+$/),
    });
    expect(directory.exit()).toEqual({
      code: 7,
      cpuSeconds: expect.any(Number),
      endedAt: expect.anything(),
    });
  });

  it('gives the program, and not its supervisor, to the kernel first when memory is short', () => {
    supervise('cat /proc/self/oom_score_adj > adj; cat /proc/$PPID/oom_score_adj >> adj');
    const own = readFileSync('/proc/self/oom_score_adj', 'utf8');
    expect(readFileSync(join(directory.path, 'adj'), 'utf8')).toBe(`1000\n${own}`);
  });

  it('has no start while nothing stands in its record', () => {
    expect([directory.start(), directory.startWrittenMs()]).toEqual(['none', undefined]);
    put('started', '');
    expect([directory.start(), directory.startWrittenMs()]).toEqual([
      'being written',
      ENDED.getTime(),
    ]);
  });

  it('has no reason of an end that was noted without room for it', () => {
    put('verdict', '');
    expect(directory.verdict()).toBeUndefined();
    directory.noteLimit('why');
    expect(directory.verdict()).toBeUndefined();
  });

  it('knows the sandbox as made when it was told the code of its end', () => {
    put('filter', '');
    supervise(`echo '{ "child-pid": 3 }' >&3; echo '{ "exit-code": 0 }' >&3`, 'filter');
    expect(directory.enclosureFault()).toBeUndefined();
    expect(directory.exit()).toMatchObject({ code: 0 });
  });

  it('knows the sandbox as not made without such a code, and what was said', () => {
    put('filter', '');
    put('err', 'bwrap: no permissions\n');
    supervise(`echo '{ "child-pid": 3 }' >&3; exit 1`, 'filter');
    expect(directory.enclosureFault()).toBe('bwrap: no permissions');
    expect(directory.exit()).toMatchObject({ code: 1 });
  });

  it.each<[string, string]>([
    ['nothing was written', ''],
    ['only the start was', '12 34 end\n'],
    ['only the sandbox is made', '12 34 end\n{ "child-pid": 3 }\n'],
    ['the supervisor was killed before the code', `12 34 end\n${TIMES}`],
    ['the code is being written', `12 34 end\n${TIMES}0 en`],
    ['the start was given up', 'abandoned end\n'],
  ])('has no end when %s', (_when, text) => {
    put('started', text);
    expect(directory.exit()).toBeUndefined();
  });

  it('reads end and processor time of the program, not of the supervisor', () => {
    put('started', `12 34 end\n{ "exit-code": 5 }\n${TIMES}5 end\n`);
    expect(directory.exit()).toEqual({ code: 5, cpuSeconds: 61.75, endedAt: ENDED });
    expect(directory.start()).toEqual({ pid: 12, startTicks: '34' });
  });

  it.each([
    [TIMES, 61.75],
    [undefined, 0],
  ])('reads the end that a version before has written', (usage, cpuSeconds) => {
    put('started', '12 34 end\n');
    if (usage !== undefined) put('usage', usage);
    expect(directory.exit()).toBeUndefined();
    put('exit', '3 end\n');
    expect(directory.exit()).toEqual({ code: 3, cpuSeconds, endedAt: ENDED });
  });

  it('is given up by the service or started by the supervisor, never both', () => {
    expect(directory.abandon()).toBe(true);
    supervise('echo ran > ../ran');
    expect(directory.start()).toBe('abandoned');
    expect(readdirSync(home)).toEqual(['7-1']);
  });

  it('is the account of the service as long as nothing was handed over', () => {
    expect(directory.account()).toBeUndefined();
    directory.handOver(undefined, 'true');
    expect(directory.account()).toBeUndefined();
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('is the account to which the launch script was given', () => {
    directory.handOver(212_345, 'true');
    expect(directory.account()).toBe(212_345);
  });
});
