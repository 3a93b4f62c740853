import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectOutput, matchesPattern } from './output-collector.js';

describe('collectOutput', () => {
  let directory: string;
  const limits = { maxBytes: 1000, maxFiles: 10, uid: process.getuid?.() };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'collect-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const write = (name: string, text = 'x'): void => writeFileSync(join(directory, name), text);
  const names = (wanted: string[], more = {}) => {
    const found = collectOutput(directory, wanted, { ...limits, ...more });
    found.close();
    return {
      files: found.files.map(({ name }) => name),
      missing: found.missing,
      leftOut: found.leftOut,
    };
  };

  it('takes files, directories and patterns, each file once', () => {
    mkdirSync(join(directory, 'd/e'), { recursive: true });
    for (const name of ['a.log', 'b.log', 'd/1', 'd/e/2', '.hidden']) write(name);
    expect(names(['a.log', '*.log', 'd/', './d/e/?'])).toEqual({
      files: ['a.log', 'b.log', 'd/1', 'd/e/2'],
      missing: [],
      leftOut: [],
    });
  });

  it('passes over links, pipes and what is reached through a link', () => {
    write('real');
    symlinkSync('/etc/passwd', join(directory, 'link'));
    symlinkSync('/etc', join(directory, 'etc'));
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    expect(names(['link', 'etc', 'etc/passwd', 'pipe', 'real', '*'])).toEqual({
      files: ['real'],
      missing: ['link', 'etc', 'etc/passwd', 'pipe'],
      leftOut: [],
    });
  });

  it('knows names that cannot be: below a file, too long, in a loop of links', () => {
    write('file');
    symlinkSync('loop', join(directory, 'loop'));
    const long = 'd/'.repeat(3_000) + 'x';
    const wanted = ['file/x', 'loop/x', long, `${long}*`, 'file/*', 'loop/*', 'file'];
    expect(names(wanted)).toEqual({
      files: ['file'],
      missing: wanted.slice(0, -1),
      leftOut: [],
    });
  });

  it('takes files with any name, and of a deep directory what is not too deep', () => {
    const strange = ['a\nb', 'a\\b', ' ', '-rf', '\u202egnp.exe', 'é'.repeat(127)];
    for (const name of strange) write(name);
    mkdirSync(join(directory, 'd/'.repeat(40)), { recursive: true });
    write('d/d/near');
    write(`${'d/'.repeat(30)}far`);
    expect(names(['*']).files.sort()).toEqual([...strange, 'd/d/near'].sort());
  });

  it('leaves out what belongs to somebody else', () => {
    write('mine');
    expect(names(['mine'], { uid: 12345 })).toEqual({ files: [], missing: ['mine'], leftOut: [] });
  });

  it('leaves out what does not fit, by bytes and by number', () => {
    write('small');
    write('big', 'x'.repeat(2000));
    write('z');
    expect(names(['big', 'small', 'z'])).toEqual({
      files: ['small', 'z'],
      missing: [],
      leftOut: ['big'],
    });
    expect(names(['small', 'z'], { maxFiles: 1 }).leftOut).toEqual(['z']);
  });

  it('names what is missing', () => {
    expect(names(['none', '*.none'])).toEqual({
      files: [],
      missing: ['none', '*.none'],
      leftOut: [],
    });
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
