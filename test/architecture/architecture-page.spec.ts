import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
const section = /## Where to change what\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
const rows = section
  .split('\n')
  .filter((line) => /^\| (a|what) /.test(line) || line.startsWith('| an '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, what = '', files = '']) => ({ what, files }));
const pathsOf = (words: string): string[] =>
  [...words.matchAll(/`([\w-]+\/[^`]*)`/g)].map((match) => match[1] ?? '');

describe('the table of docs/ARCHITECTURE.md', () => {
  it('has the tasks of a newcomer', () => {
    expect(rows).toHaveLength(20);
  });

  it.each(rows)('names at most three files for $what, and they exist', ({ files }) => {
    expect(pathsOf(files).filter((path) => !existsSync(path))).toEqual([]);
    expect(pathsOf(files).length).toBeLessThanOrEqual(3);
  });
});
