import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A test of a file: its whole title, and what stands in its table, row by row. */
export interface FoundTest {
  title: string;
  /** Texts and sources of the members of each row; empty for a test without a table. */
  rows: string[][];
}

const BETWEEN = ' › ';

const known = new Map<string, FoundTest[]>();

/** All tests of a file that run, as they are written there; those that are left out (`skip`, `todo`) are none. */
export function testsOf(path: string): FoundTest[] {
  const found = known.get(path) ?? testsIn(readFileSync(path, 'utf8'));
  known.set(path, found);
  return found;
}

/** The tests of a source text. */
function testsIn(text: string): FoundTest[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  const found: FoundTest[] = [];
  const look = (node: ts.Node, above: readonly string[]): void => {
    const call = ts.isCallExpression(node) ? blockOf(node) : undefined;
    if (!call) {
      if (ts.isCallExpression(node) && isTestCall(node)) return;
      node.forEachChild((child) => look(child, above));
      return;
    }
    const titles = [...above, call.title];
    if (call.kind === 'it') found.push({ title: titles.join(BETWEEN), rows: call.rows });
    else if (call.body) look(call.body, titles);
  };
  look(source, []);
  return found;
}

/** Starts with `describe` or `it`, whatever follows. */
function isTestCall(node: ts.CallExpression): boolean {
  return /^(describe|it)\b/.test(node.expression.getText());
}

interface Block {
  kind: 'describe' | 'it';
  title: string;
  rows: string[][];
  body: ts.Node | undefined;
}

/** `describe('…')`, `it('…')`, `it.each(table)('…')`; undefined for any other call, also for one that is left out. */
function blockOf({ expression, arguments: [title, body] }: ts.CallExpression): Block | undefined {
  if (!title || !ts.isStringLiteralLike(title)) return undefined;
  const table = ts.isCallExpression(expression) ? expression : undefined;
  const called = table ? table.expression : expression;
  const isEach = ts.isPropertyAccessExpression(called) && called.name.text === 'each';
  if (isEach !== (table !== undefined)) return undefined;
  const word = isEach ? called.expression : called;
  if (!ts.isIdentifier(word) || !['describe', 'it'].includes(word.text)) return undefined;
  const kind = word.text as Block['kind'];
  return { kind, title: title.text, rows: table ? rowsOf(table.arguments[0]) : [], body };
}

function rowsOf(table: ts.Expression | undefined): string[][] {
  if (table && ts.isAsExpression(table)) return rowsOf(table.expression);
  if (!table || !ts.isArrayLiteralExpression(table)) return [];
  return table.elements.flatMap((row) => {
    if (ts.isSpreadElement(row)) return rowsOf(row.expression);
    return [ts.isArrayLiteralExpression(row) ? row.elements.map(textOf) : [textOf(row)]];
  });
}

function textOf(member: ts.Expression): string {
  if (ts.isStringLiteralLike(member)) return member.text;
  return member.getText().replaceAll(/\s+/g, ' ');
}
