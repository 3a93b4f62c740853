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

/** True when the words stand in the identifier one after the other. */
function speaks(identifier: string, old: readonly string[]): boolean {
  return ` ${wordsOf(identifier).join(' ')} `.includes(` ${old.join(' ')} `);
}

function identifiersOf(path: string): Set<string> {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const found = new Set<string>();
  const look = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    node.forEachChild(look);
  };
  look(file);
  return found;
}

describe('the words of the sources', () => {
  it('are the terms of the field: identifiers and names of files have none of the old ones', () => {
    const old = oldWords();
    expect(old.length).toBeGreaterThan(20);
    const wrong = sources(SRC).flatMap((path) => {
      const names = [...identifiersOf(path), relative(SRC, path)];
      const bad = names.filter((name) => old.some((words) => speaks(name, words)));
      return bad.map((name) => `${relative(SRC, path)}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });
});
