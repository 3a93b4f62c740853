import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureDisk, type DiskUse } from './disk-use.js';

describe('measureDisk', () => {
  let home: string;
  let work: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'disk-'));
    work = join(home, 'work');
    mkdirSync(work);
  });
  afterEach(() => execFileSync('rm', ['-rf', home]));

  const measure = (maxEntries = 1000, files: string[] = []): DiskUse & { steps: number } => {
    const walk = measureDisk([work], files, maxEntries);
    for (let steps = 0; ; steps += 1) {
      const step = walk.next();
      if (step.done === true) return { ...step.value, steps };
    }
  };

  it('adds up files below, and the ones beside', () => {
    mkdirSync(join(work, 'a/b'), { recursive: true });
    writeFileSync(join(work, 'a/b/c'), Buffer.alloc(500_000, 1));
    writeFileSync(join(home, 'out'), Buffer.alloc(200_000, 1));
    const { bytes, entries } = measure(1000, [join(home, 'out'), join(home, 'none')]);
    expect(entries).toBe(3);
    expect(bytes).toBeGreaterThanOrEqual(700_000);
    expect(bytes).toBeLessThan(1_200_000);
  });

  it('counts blocks, not the length of a file with holes', () => {
    writeFileSync(join(work, 'sparse'), '');
    truncateSync(join(work, 'sparse'), 1_000_000_000);
    expect(measure().bytes).toBeLessThan(1_000_000);
  });

  it('takes a file for a file, whatever its name', () => {
    writeFileSync(join(work, 'closed'), '');
    expect(measure()).toEqual({ bytes: 0, entries: 1, steps: 0 });
  });

  it('follows no link', () => {
    mkdirSync(join(home, 'large'));
    writeFileSync(join(home, 'large/file'), Buffer.alloc(1_000_000, 1));
    symlinkSync(join(home, 'large'), join(work, 'link'));
    symlinkSync('.', join(work, 'loop'));
    expect(measure()).toMatchObject({ entries: 2 });
    expect(measure().bytes).toBeLessThan(500_000);
  });

  it('stops at the first entry too many', () => {
    for (let i = 0; i < 50; i += 1) writeFileSync(join(work, `f${i}`), '');
    linkSync(join(work, 'f0'), join(work, 'again'));
    expect(measure(10).entries).toBe(11);
  });

  it('rests in between', () => {
    for (let i = 0; i < 1100; i += 1) writeFileSync(join(work, `f${i}`), '');
    expect(measure(5000)).toMatchObject({ entries: 1100, steps: 2 });
  });

  it('says when a path is too long to be looked into', () => {
    const cwd = process.cwd();
    try {
      process.chdir(work);
      for (let i = 0; i < 25; i += 1) {
        mkdirSync('d'.repeat(200));
        process.chdir('d'.repeat(200));
      }
    } finally {
      process.chdir(cwd);
    }
    expect(measure().closed).toContain('dddd');
  });
});
