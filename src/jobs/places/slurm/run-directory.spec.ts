import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { shellWord } from '../../run/shell-word.js';
import { batchScript, wrapperScript, type WrapperInput } from './payload-wrapper.js';
import { RunDirectory } from './run-directory.js';
import { verdictOfRecord } from './slurm-place.js';

const run = promisify(execFile);
const { uid: UID, gid: GID } = userInfo();
const OWN = { name: 'own', uid: UID, gid: GID };
const LIMITS = { cpuSeconds: 100, wallSeconds: 100, fileBytes: 1_000_000 };

describe('a run in its directory', () => {
  let root: string;
  let directory: RunDirectory;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "slurm run's "));
    directory = new RunDirectory(root, false);
    await directory.prepare();
  });
  afterEach(async () => rm(root, { recursive: true }));

  const stage = async (key: string, more: Partial<WrapperInput>): Promise<void> => {
    const wrapper = wrapperScript({
      key,
      root,
      uid: OWN.uid,
      executable: 'sh',
      isUploaded: false,
      path: '/usr/bin:/bin',
      arguments: [],
      stdOutput: 'std.out',
      stdError: 'std.err',
      environment: {},
      limits: LIMITS,
      ...more,
    });
    await directory.stage({ key, account: OWN }, wrapper, () => Promise.resolve());
  };
  /** Runs the wrapper as Slurm does; its exit code. */
  const wrapper = async (key: string): Promise<number> =>
    run('/bin/sh', [join(directory.pathOf(key), 'wrapper')]).then(
      () => 0,
      (error: unknown) => (error as { code: number }).code,
    );
  const output = (key: string, name = 'std.out') =>
    readFile(join(directory.pathOf(key), 'work', name), 'utf8');

  it('leaves exit code, output and records, and says that it began and ended', async () => {
    const script = 'printf "%s|" "$@" "$WHO" "$PWD"; exit 3';
    await stage('1-1', {
      arguments: ['-c', script, 'x', "a 'b'", '$(id)'],
      environment: { WHO: 'it is; me' },
    });
    expect(await wrapper('1-1')).toBe(3);
    expect(await output('1-1')).toBe(`a 'b'|$(id)|it is; me|${directory.pathOf('1-1')}/work|`);
    expect(await directory.exitRecord('1-1')).toMatchObject({ status: 3, reason: '' });
    expect(await directory.startRecord('1-1')).toMatchObject({ begunAt: expect.any(Date) });
    const runs = [{ key: '1-1', uid: OWN.uid }];
    expect([await directory.marks.begun(runs), await directory.marks.ended(runs)]).toEqual([
      new Set(['1-1']),
      new Set(['1-1']),
    ]);
    expect(await directory.hasEnded('1-1')).toBe(true);
  });

  it('never starts twice', async () => {
    await stage('2-1', { arguments: ['-c', `echo x >>'${root.replaceAll("'", "'\\''")}/log'`] });
    await Promise.all([wrapper('2-1'), wrapper('2-1'), wrapper('2-1')]);
    await wrapper('2-1');
    expect(await readFile(join(root, 'log'), 'utf8')).toBe('x\n');
    expect(await directory.preventStart('2-1')).toBe(false);
  });

  it('never starts once its start is prevented, which may be done again', async () => {
    await stage('3-1', { arguments: ['-c', 'echo x'] });
    expect(await directory.preventStart('3-1')).toBe(true);
    expect(await directory.preventStart('3-1')).toBe(true);
    expect(await wrapper('3-1')).toBe(0);
    await expect(output('3-1')).rejects.toThrow('ENOENT');
    expect(await directory.exitRecord('3-1')).toBeUndefined();
  });

  it('is prevented when it has no directory, but not when the shared directory is away', async () => {
    expect(await directory.preventStart('4-1')).toBe(true);
    await rm(join(root, 'runs'), { recursive: true });
    await expect(directory.preventStart('4-1')).rejects.toThrow('the shared directory is away');
  });

  it.each([
    ['nothing of that name', { executable: 'no-such-program' }],
    ['a builtin of the shell', { executable: 'export' }],
    ['a directory', { executable: '/usr/bin' }],
    ['an uploaded file that did not arrive', { executable: 'job.sh', isUploaded: true }],
  ])('does not start %s', async (_name, more) => {
    await stage('5-1', more);
    expect(await wrapper('5-1')).toBe(127);
    expect(await directory.exitRecord('5-1')).toMatchObject({ reason: 'not-found' });
  });

  it('ends the payload at its wall-clock limit', async () => {
    await stage('6-1', { arguments: ['-c', 'sleep 30'], limits: { ...LIMITS, wallSeconds: 1 } });
    await wrapper('6-1');
    expect(await directory.exitRecord('6-1')).toMatchObject({ status: 143, reason: 'wall' });
  });

  it('ends a payload that ignores SIGTERM when it is cancelled', async () => {
    await stage('7-1', { arguments: ['-c', "trap '' TERM; echo up; while :; do sleep 0.1; done"] });
    const ended = wrapper('7-1');
    while ((await output('7-1').catch(() => '')) === '')
      await new Promise((r) => setTimeout(r, 20));
    await directory.cancel('7-1');
    await ended;
    expect(await directory.exitRecord('7-1')).toMatchObject({ status: 137, reason: 'cancel' });
  });

  it('notes a SIGTERM that came from outside', async () => {
    await stage('8-1', { arguments: ['-c', 'echo up; sleep 30'] });
    const child = spawn('/bin/sh', [join(directory.pathOf('8-1'), 'wrapper')]);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while ((await output('8-1').catch(() => '')) === '')
      await new Promise((r) => setTimeout(r, 20));
    child.kill('SIGTERM');
    await ended;
    expect(await directory.exitRecord('8-1')).toMatchObject({ reason: 'term' });
  });

  const script = async (key: string, content: string, path = '/usr/bin:/bin'): Promise<number> => {
    await stage(key, { executable: 'run.sh', isUploaded: true, environment: { PATH: path } });
    const work = join(directory.pathOf(key), 'work');
    await writeFile(join(work, 'run.sh'), content);
    await writeFile(join(work, 'tool'), '#!/bin/sh\necho "tool $1"\n');
    if (path.includes('.')) await chmod(join(work, 'tool'), 0o755); // only what #! names itself is made executable
    return wrapper(key);
  };

  it.each([
    ['CRLF', '#!/bin/sh\r\necho\r\n', '"#!/bin/sh\\r"'],
    ['CRLF behind env', '#!/usr/bin/env sh\r\n', '"#!/usr/bin/env sh\\r"'],
    ['no interpreter', '#! /opt/nowhere/*\n', '"#! /opt/nowhere/*"'],
    ['a directory for one', '#!/usr/bin\n', '"#!/usr/bin"'],
    ['none that was uploaded', '#!./none\n', '"#!./none"'],
    ['none for env', '#!/usr/bin/env none\n', '"#!/usr/bin/env none"'],
    ['none for env -S', '#!/usr/bin/env -S none -u\n', '"#!/usr/bin/env -S none -u"'],
    ['options for env', '#!/usr/bin/env sh -e\n', '"#!/usr/bin/env sh -e"'],
  ])('does not start a script with %s', async (_what, content, firstLine) => {
    expect(await script('16-1', content)).toBe(127);
    const record = await directory.exitRecord('16-1');
    expect(record).toMatchObject({ status: 127, reason: 'no-interpreter', firstLine });
    await expect(output('16-1')).rejects.toThrow('ENOENT');
    expect(record && verdictOfRecord(record, 100)).toEqual({
      isGood: false,
      minor: 'Application not found',
      app: `The interpreter of the program was not found: ${firstLine}`,
    });
  });

  it.each([
    ['a blank behind #!', '#! \t/bin/sh\necho ran\n', 0, 'ran\n'],
    ['env', '#!/usr/bin/env sh\necho ran\n', 0, 'ran\n'],
    ['env -S', '#!/usr/bin/env -S sh -e\necho ran\n', 0, 'ran\n'],
    ['env -S and CRLF', '#!/usr/bin/env -Ssh\r\necho ran #\r\n', 0, 'ran\n'],
    ['an interpreter that was uploaded', '#!./tool\n', 0, 'tool ./run.sh\n'],
    ['no #!', 'echo ran #\r\n', 0, 'ran\n'],
    ['nothing in it', '', 0, ''],
    ['an exit code like that of the shell', '#!/bin/sh\nexit 127\n', 127, ''],
  ])('starts a script with %s', async (_what, content, status, out) => {
    expect(await script('17-1', content)).toBe(status);
    expect(await output('17-1')).toBe(out);
    expect(await directory.exitRecord('17-1')).toMatchObject({ status, reason: '' });
  });

  it('starts a script whose interpreter is on the PATH of the job', async () => {
    expect(await script('18-1', '#!/usr/bin/env tool\n', '/nowhere:.:/usr/bin:/bin')).toBe(0);
    expect(await output('18-1')).toBe('tool ./run.sh\n');
  });

  it('follows no link that a payload left for a record', async () => {
    await stage('9-1', {});
    await writeFile(join(root, 'secret'), 'status=0\n');
    await symlink(join(root, 'secret'), join(directory.pathOf('9-1'), 'record', 'exit'));
    expect(await directory.exitRecord('9-1')).toBeUndefined();
  });

  it('starts task n of a batch from line n of its list', async () => {
    await stage('10-1', { arguments: ['-c', 'echo ten'] });
    await stage('11-1', { arguments: ['-c', 'echo eleven'] });
    const batch = { id: '10-1', comment: 'grid:10:1', shape: { cpus: 1 }, keys: ['10-1', '11-1'] };
    await directory.writeBatch(batch);
    expect(await directory.batches()).toEqual([batch]);
    const script = batchScript(root, directory.batchPath('10-1'));
    await run('/bin/sh', ['-c', script], {
      env: { PATH: '/usr/bin:/bin', SLURM_ARRAY_TASK_ID: '1' },
    });
    expect(await output('11-1')).toBe('eleven\n');
    await expect(output('10-1')).rejects.toThrow('ENOENT');
    await directory.remove(['10-1', '11-1']);
    await directory.removeBatch('10-1');
    expect([await directory.known(), await directory.batches()]).toEqual([[], []]);
    expect((await directory.marks.begun([{ key: '11-1', uid: OWN.uid }])).size).toBe(0);
  });

  it('believes a mark only where the account of the run could write it', async () => {
    await stage('12-1', {});
    await mkdir(join(root, 'marks', 'ended', '4711'), { recursive: true });
    await writeFile(join(root, 'marks', 'ended', '4711', '12-1'), '');
    await writeFile(join(root, 'marks', 'ended', '12-1'), '');
    expect(await directory.marks.ended([{ key: '12-1', uid: OWN.uid }])).toEqual(new Set());
    expect(await directory.marks.ended([{ key: '12-1', uid: 4711 }])).toEqual(new Set(['12-1']));
    expect(await directory.hasEnded('12-1')).toBe(false);
  });

  it('finds the marks of an account that has filled its directory', async () => {
    await stage('13-1', {});
    const place = join(root, 'marks', 'ended', String(OWN.uid));
    for (let n = 0; n < 1_500; n += 1) writeFileSync(join(place, `x${n}`), '');
    const runs = ['13-1', '14-1'].map((key) => ({ key, uid: OWN.uid }));
    expect(await directory.marks.ended(runs)).toEqual(new Set());
    await writeFile(join(place, '13-1'), '');
    expect(await directory.marks.ended(runs)).toEqual(new Set(['13-1']));
  });

  it('removes a mark that was made a directory, and follows no link on the way', async () => {
    await stage('15-1', {});
    await mkdir(join(root, 'marks', 'ended', String(OWN.uid), '15-1', 'deep'), { recursive: true });
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'elsewhere', 'file'), '');
    await symlink(join(root, 'elsewhere'), join(directory.pathOf('15-1'), 'work', 'link'));
    await directory.remove(['15-1']);
    expect(await directory.exists('15-1')).toBe(false);
    expect(await readdir(join(root, 'marks', 'ended', String(OWN.uid)))).toEqual([]);
    expect(await readdir(join(root, 'elsewhere'))).toEqual(['file']);
  });

  it('is not put where everybody could exchange it', async () => {
    await chmod(root, 0o777);
    await expect(new RunDirectory(root, false).prepare()).rejects.toThrow(
      'must not be writable by everybody',
    );
  });

  it('measures the memory of all processes of the payload, and keeps the most', async () => {
    const hold =
      'x=$(head -c 10000000 /dev/zero | tr "\\0" a); while [ ! -e seen ]; do sleep 0.1; done';
    const program = `${hold}; x=; sleep 1.5`;
    await stage('16-1', { arguments: ['-c', `(${program}) & ${program}; wait`] });
    const ended = wrapper('16-1');
    const place = directory.pathOf('16-1');
    const pageBytes = Number((await run('getconf', ['PAGESIZE'])).stdout);
    const seenBytes = async (): Promise<number> =>
      pageBytes * Number(await readFile(join(place, 'record/rss'), 'utf8').catch(() => 0));
    while ((await seenBytes()) < 20_000_000) await new Promise((r) => setTimeout(r, 20));
    await writeFile(join(place, 'work/seen'), '');
    await ended;
    const { maxRssBytes = 0 } = (await directory.exitRecord('16-1')) ?? {};
    expect(maxRssBytes).toBeGreaterThan(20_000_000);
    expect(maxRssBytes).toBeLessThan(100_000_000);
  }, 60_000);

  it('shows what it knows of a batch to nobody else', async () => {
    await directory.writeBatch({
      id: '17-1',
      comment: 'grid:17:1',
      shape: { cpus: 1 },
      keys: ['17-1'],
      account: OWN,
    });
    const path = directory.batchPath('17-1');
    expect((await stat(`${path}.json`)).mode & 0o777).toBe(0o600);
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('644');
  });

  it('refuses keys that are paths', async () => {
    expect(() => directory.pathOf('../x')).toThrow('not the key of a run');
    await expect(stat(join(root, 'x'))).rejects.toThrow('ENOENT');
  });
});

describe('shellWord', () => {
  it('is one word whatever the text holds', () => {
    expect(shellWord(`it's $(x) "y"`)).toBe(`'it'\\''s $(x) "y"'`);
    expect(() => shellWord('a\0b')).toThrow('NUL in a command');
  });
});
