import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { sources } from './source-tree.js';

/** Where answers and what users write are read and written. */
const FOLDERS = ['src/cli', 'src/client', 'examples/portal/src'];
/** Show records of users, groups and audit events, which the command has read from the database itself. */
const OF_THE_DATABASE = /cli\/admin\/(?:user\.command|group\.command|audit-lines)\.ts$/;
/** `parse` rounds integers beyond 2^53 as `json()` of an answer does, `stringify` throws for them. */
const INEXACT = /\bJSON\s*\.\s*(?:parse|stringify)\b|\.json\(\)/;
const COMMENT = /^\s*(?:\*|\/[/*])/;

function inexactLines(text: string): string[] {
  return text.split('\n').filter((line) => INEXACT.test(line) && !COMMENT.test(line));
}

describe('command, client and portal', () => {
  const files = FOLDERS.flatMap(sources).filter((file) => !OF_THE_DATABASE.test(file));

  it('read and write JSON by the kernel, which keeps all digits', () => {
    const wrong = files.flatMap((file) =>
      inexactLines(readFileSync(file, 'utf8')).map((line) => `${file}: ${line.trim()}`),
    );
    expect(files.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  it.each([
    ['const value = JSON.parse(text);', true],
    ['lines.map(JSON.stringify)', true],
    ['await answer.json()', true],
    ['  * `JSON.parse` rounds them', false],
    ['parseJson(text)', false],
  ])('%s is inexact: %p', (line, expected) => {
    expect(inexactLines(line).length > 0).toBe(expected);
  });
});
