import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const text = readFileSync('CONTRIBUTING.md', 'utf8');
const section = /## Where to change what\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| a'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, what = '', files = '']) => ({ what, files }));
const pathsOf = (words: string): string[] =>
  [...words.matchAll(/`([\w-]+\/[^`]*)`/g)].map((match) => match[1] ?? '');

describe('the table of CONTRIBUTING.md', () => {
  it('has the ten tasks of a newcomer, and the portal', () => {
    expect(rows).toHaveLength(11);
  });

  it.each(rows)('names files that exist for $what', ({ files }) => {
    expect(pathsOf(files).filter((path) => !existsSync(path))).toEqual([]);
    expect(pathsOf(files).length).toBeLessThanOrEqual(3);
  });
});
