import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { sources, SRC } from './source-tree.js';

/** A class that needs more parts has two jobs. */
const MOST_PARTS = 8;

function namesOf(node: ts.HasDecorators): string[] {
  return (ts.getDecorators(node) ?? []).flatMap(({ expression }) => {
    const name = ts.isCallExpression(expression) ? expression.expression : expression;
    return ts.isIdentifier(name) ? [name.text] : [];
  });
}

function classesIn(path: string, text = readFileSync(path, 'utf8')): ts.ClassDeclaration[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return file.statements.filter((node) => ts.isClassDeclaration(node));
}

function partsOf(one: ts.ClassDeclaration): readonly ts.ParameterDeclaration[] {
  return one.members.find((member) => ts.isConstructorDeclaration(member))?.parameters ?? [];
}

/** Holds other parts and does nothing: whoever has it has all of them. */
function isHolder(one: ts.ClassDeclaration): boolean {
  const isEmpty = (body: ts.Block | undefined): boolean => (body?.statements.length ?? 0) === 0;
  return (
    partsOf(one).length > 0 &&
    one.heritageClauses === undefined &&
    one.members.every((member) => ts.isConstructorDeclaration(member) && isEmpty(member.body))
  );
}

function nameOf(one: ts.ClassDeclaration): string {
  const path = relative(SRC, one.getSourceFile().fileName);
  return `${path}: ${one.name?.text ?? 'a class'}`;
}

function injectedProperties(classes: readonly ts.ClassDeclaration[]): string[] {
  return classes.flatMap((one) =>
    one.members
      .filter((member) => ts.isPropertyDeclaration(member))
      .filter((member) => namesOf(member).some((name) => name.startsWith('Inject')))
      .map((member) => `${nameOf(one)}.${member.name.getText()}`),
  );
}

/** Classes that Nest makes of more parts than they may have. */
function overloaded(classes: readonly ts.ClassDeclaration[]): string[] {
  const holders = new Map(
    classes.filter(isHolder).map((one) => [one.name?.text ?? '', partsOf(one).length]),
  );
  return classes
    .filter((one) => namesOf(one).length > 0)
    .map((one) => {
      const sizes = partsOf(one).map(({ type }) => holders.get(type?.getText() ?? '') ?? 1);
      return { one, count: sizes.reduce((sum, size) => sum + size, 0) };
    })
    .filter(({ count }) => count > MOST_PARTS)
    .map(({ one, count }) => `${nameOf(one)} has ${count}`);
}

const all = sources(SRC).flatMap((path) => classesIn(path));

describe('the parts of a class', () => {
  const parts = Array.from({ length: MOST_PARTS }, (_, index) => `private p${index}: P`).join(', ');

  it('are looked for', () => {
    const made = classesIn(
      `${SRC}/x.ts`,
      `@Injectable() class Holder { constructor(readonly a: A, readonly b: B) {} }
      @Injectable() class Fits { constructor(${parts}) {} }
      @Injectable() class Many { constructor(${parts}, private q: Q) {} }
      @Injectable() class Hides { constructor(${parts.replace('p0: P', 'p0: Holder')}) {} }
      abstract class Base { @Inject(CLOCK) private readonly clock!: Clock; }`,
    );
    expect(overloaded(made)).toEqual(['x.ts: Many has 9', 'x.ts: Hides has 9']);
    expect(injectedProperties(made)).toEqual(['x.ts: Base.clock']);
    expect(all.filter((one) => namesOf(one).length > 0).length).toBeGreaterThan(200);
  });

  it('come by its constructor', () => {
    expect(injectedProperties(all)).toEqual([]);
  });

  it('are eight at most', () => {
    expect(overloaded(all)).toEqual([]);
  });
});
