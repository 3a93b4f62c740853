import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matchesPattern } from './name-pattern.js';
import { collectOutput } from './output-collector.js';

describe('collectOutput', () => {
  let directory: string;
  const limits = { maxBytes: 1000, maxFiles: 10 };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'collect-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const write = (name: string, text = 'x'): void => writeFileSync(join(directory, name), text);
  const names = async (
    wanted: string[],
    more: { uid?: number; maxFiles?: number; maxLookedAt?: number } = {},
    files: ReadonlyMap<string, string> = new Map(),
  ) => {
    const places = { directory, files, uid: more.uid ?? process.getuid?.() };
    const found = await collectOutput(places, wanted, { ...limits, ...more });
    await found.close();
    return {
      files: found.files.map(({ name }) => name),
      missing: found.missing,
      leftOut: found.leftOut,
      ...(found.isCut ? { isCut: true } : {}),
    };
  };

  it('takes files, directories and patterns, each file once', async () => {
    mkdirSync(join(directory, 'd/e'), { recursive: true });
    for (const name of ['a.log', 'b.log', 'd/1', 'd/e/2', '.hidden']) write(name);
    expect(await names(['a.log', '*.log', 'd/', './d/e/?'])).toEqual({
      files: ['a.log', 'b.log', 'd/1', 'd/e/2'],
      missing: [],
      leftOut: [],
    });
  });

  it('passes over links, pipes and what is reached through a link', async () => {
    write('real');
    symlinkSync('/etc/passwd', join(directory, 'link'));
    symlinkSync('/etc', join(directory, 'etc'));
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    expect(await names(['link', 'etc', 'etc/passwd', 'pipe', 'real', '*'])).toEqual({
      files: ['real'],
      missing: ['link', 'etc', 'etc/passwd', 'pipe'],
      leftOut: [],
    });
  });

  it('knows names that cannot be: below a file, too long, in a loop of links', async () => {
    write('file');
    symlinkSync('loop', join(directory, 'loop'));
    const long = 'd/'.repeat(3_000) + 'x';
    const wanted = ['file/x', 'loop/x', long, `${long}*`, 'file/*', 'loop/*', 'file'];
    expect(await names(wanted)).toEqual({
      files: ['file'],
      missing: wanted.slice(0, -1),
      leftOut: [],
    });
  });

  it('takes files with any name, and of a deep directory what is not too deep', async () => {
    const strange = ['a\nb', 'a\\b', ' ', '-rf', '\u202egnp.exe', 'é'.repeat(127)];
    for (const name of strange) write(name);
    mkdirSync(join(directory, 'd/'.repeat(40)), { recursive: true });
    write('d/d/near');
    write(`${'d/'.repeat(30)}far`);
    expect((await names(['*'])).files.sort()).toEqual([...strange, 'd/d/near'].sort());
  });

  it('leaves out what belongs to somebody else', async () => {
    write('mine');
    expect(await names(['mine'], { uid: 12345 })).toEqual({
      files: [],
      missing: ['mine'],
      leftOut: [],
    });
  });

  it('leaves out what does not fit, by bytes and by number', async () => {
    write('small');
    write('big', 'x'.repeat(2000));
    write('z');
    expect(await names(['big', 'small', 'z'])).toEqual({
      files: ['small', 'z'],
      missing: [],
      leftOut: ['big'],
    });
    expect((await names(['small', 'z'], { maxFiles: 1 })).leftOut).toEqual(['z']);
  });

  it('names what is missing', async () => {
    expect(await names(['none', '*.none'])).toEqual({
      files: [],
      missing: ['none', '*.none'],
      leftOut: [],
    });
  });

  it('takes the files that stand for names before anything of that name in the directory', async () => {
    symlinkSync('/etc/passwd', join(directory, 'std.out'));
    mkdirSync(join(directory, 'std.err'));
    const outside = mkdtempSync(join(tmpdir(), 'streams-'));
    writeFileSync(join(outside, 'out'), 'out');
    writeFileSync(join(outside, 'err'), '');
    const files = new Map([
      ['std.out', join(outside, 'out')],
      ['std.err', join(outside, 'err')],
    ]);
    const found = await collectOutput({ directory, files, uid: 12345 }, ['*'], limits);
    await found.close();
    rmSync(outside, { recursive: true });
    const text = (content: unknown): string => (content as Buffer).toString('utf8');
    expect(found.files.map(({ name, content }) => [name, text(content)])).toEqual([
      ['std.err', ''],
      ['std.out', 'out'],
    ]);
  });

  it('orders what was asked for first first, and what one pattern finds by name', async () => {
    const wanted = Array.from({ length: 1_300 }, (_, index) => `f${(index * 7919) % 1_300}`);
    for (const name of [...wanted, 'std.out', 'std.err']) write(name, '');
    const { files } = await names(['std.out', 'std.err', 'f*'], { maxFiles: 2_000 });
    expect(files).toEqual(['std.out', 'std.err', ...wanted.sort()]);
  });

  it('looks at no more names than it may, and says so', async () => {
    for (const name of ['a', 'b', 'c', 'd']) write(name);
    const { files, isCut } = await names(['*'], { maxLookedAt: 3 });
    expect([files.length, isCut]).toEqual([3, true]);
  });
});

describe('matchesPattern', () => {
  it.each([
    ['a.log', '*.log', true],
    ['a.log', '?.log', true],
    ['ab.log', '?.log', false],
    ['.log', '*', false],
    ['.log', '.*', true],
    ['a+b', 'a+b', true],
    ['aab', 'a*b', true],
    ['é', '?', true],
  ])('%s against %s', (name, pattern, expected) => {
    expect(matchesPattern(name, pattern)).toBe(expected);
  });

  it('stays fast for patterns made to be slow', () => {
    expect(matchesPattern('a'.repeat(255), '*a'.repeat(120) + 'b')).toBe(false);
  });
});
