import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { sources, SRC } from './source-tree.js';

const STYLE = join(SRC, '../docs/STYLE.md');
/** A row of the table of words: old ones in code marks, then the term. */
const ROW = /^\| (`[^|]*`) +\| [^|]+\|$/gm;

/** The words of an identifier in lower case: `giveBackAll` and `GIVE_BACK_ALL` → give, back, all. */
function wordsOf(identifier: string): string[] {
  return identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** The old words of docs/STYLE.md, each as its words in a row. */
function oldWords(): string[][] {
  const rows = [...readFileSync(STYLE, 'utf8').matchAll(ROW)];
  const named = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  return named.map(([, name = '']) => wordsOf(name));
}

const old = oldWords();
const known = new Map<string, boolean>();

/** True when old words stand in the identifier one after the other. */
function isOld(identifier: string): boolean {
  const before = known.get(identifier);
  if (before !== undefined) return before;
  const spaced = ` ${wordsOf(identifier).join(' ')} `;
  const is = old.some((words) => spaced.includes(` ${words.join(' ')} `));
  known.set(identifier, is);
  return is;
}

/** The identifiers of the file; none are looked for where not even its comments have old words. */
function identifiersOf(path: string): Set<string> {
  const text = readFileSync(path, 'utf8');
  if (!text.match(/[\w$]+/g)?.some(isOld)) return new Set();
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found = new Set<string>();
  const look = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    node.forEachChild(look);
  };
  look(file);
  return found;
}

describe('the words of the sources', () => {
  it.each([
    ['giveBack', true],
    ['GIVE_BACK_MS', true],
    ['giveBackground', false],
    ['extended', false],
    ['refuseStrayKeys', true],
  ])('%s is an old one: %s', (identifier, expected) => {
    expect(isOld(identifier)).toBe(expected);
  });

  it('are the terms of the field: identifiers and names of files have none of the old ones', () => {
    expect(old.length).toBeGreaterThan(20);
    const wrong = sources(SRC).flatMap((path) => {
      const names = [...identifiersOf(path), relative(SRC, path)];
      return names.filter(isOld).map((name) => `${relative(SRC, path)}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });
});
