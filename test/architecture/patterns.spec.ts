import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { growth, LINEAR, TIMES } from '../support/growth.js';

/**
 * Every regular expression of the sources must be linear: each is run on hostile texts made from its own parts, and on texts
 * that are 64 times as long. What ESLint's rules against super-linear patterns cannot see (a search that begins anew at
 * many places behind a fixed start) is found here.
 */
const FOLDERS = ['src', 'examples', 'deploy', 'bin'];
const LENGTH = 125;
/** The long text of a pattern that is not linear takes more on any machine: only what does is looked at closely. */
const QUICK_MS = 0.1;
/** V8 stops a search then: what it stops three times would not end for hours. */
const HOPELESS_MS = 100;
/** Runs in one text. */
const RUNS = 50;
/** A line that may have a regular expression: two slashes, outside comments. */
const MAY_HAVE = /^(?!\s*(?:\*|\/[/*]|import )).*\/(?![/*]).*\/|\bRegExp\(/m;

interface Found {
  place: string;
  literal: string;
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') return [];
    if (statSync(path).isDirectory()) return sourcesIn(path);
    return /\.(?:ts|tsx|js|mjs)$/.test(name) && !name.endsWith('.spec.ts') ? [path] : [];
  });
}

function visit(node: ts.Node, seen: (node: ts.Node) => void): void {
  seen(node);
  node.forEachChild((child) => visit(child, seen));
}

function patternsOf(path: string): { literals: Found[]; isMaking: boolean } {
  const source = readFileSync(path, 'utf8');
  if (!MAY_HAVE.test(source)) return { literals: [], isMaking: false };
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  const literals: Found[] = [];
  let isMaking = false;
  visit(file, (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.end);
      literals.push({ place: `${path}:${line + 1}`, literal: node.text });
    }
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isCall && ts.isIdentifier(node.expression)) isMaking ||= node.expression.text === 'RegExp';
  });
  return { literals, isMaking };
}

/** One text that the node matches: the fewest repetitions, at least one. */
function sample(node: AST.Node): string {
  switch (node.type) {
    case 'Alternative':
      return node.elements.map(sample).join('');
    case 'CapturingGroup':
    case 'Group':
    case 'Pattern':
      return node.alternatives[0] === undefined ? '' : sample(node.alternatives[0]);
    case 'Quantifier':
      return sample(node.element).repeat(Math.max(1, Math.min(node.min, 50)));
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return memberOf(node.raw);
    default:
      return '';
  }
}

const CANDIDATES = [
  'a',
  '0',
  'Z',
  ' ',
  '-',
  '.',
  '/',
  '=',
  ':',
  '"',
  "'",
  '\\',
  '\n',
  '\t',
  '\u0001',
];
const members = new Map<string, string>();

function memberOf(raw: string): string {
  const known = members.get(raw);
  if (known !== undefined) return known;
  const one = new RegExp(`^(?:${raw})$`, 'u');
  const found =
    CANDIDATES.find((text) => one.test(text)) ??
    Array.from({ length: 0x2ff }, (_, code) => String.fromCharCode(code)).find((text) =>
      one.test(text),
    ) ??
    'a';
  members.set(raw, found);
  return found;
}

/** A text as long as it shall be, and how long that is for the short one. */
interface Hostile {
  size: number;
  textOf: (size: number) => string;
}

/** Texts that repeat each repeated part, alone, behind what leads to it, and with it; and runs that are one too short. */
function hostileTexts(literal: string): Hostile[] {
  const seeds = new Map<string, Hostile>();
  const add = (once: string, repeated: string): void => {
    if (repeated === '') return;
    for (const end of ['', '\n\u0001', '!']) {
      const textOf = (size: number): string =>
        once + repeated.repeat(Math.ceil(size / repeated.length)) + end;
      seeds.set(JSON.stringify([once, repeated, end]), { size: LENGTH, textOf });
    }
  };
  const addRuns = (before: string, element: string, least: number): void => {
    add('', `${before}${element.repeat(least - 1)}\u0002`);
    // Each place of a run looks as far as its end: the longer the runs, the more places look
    // further. V8 leaps over short ones, until it has compiled a mebibyte of patterns in a process: then it does not optimize them.
    const textOf = (size: number): string => `${before}${element.repeat(size)}\u0002`.repeat(RUNS);
    const size = Math.floor((least - 1) / TIMES);
    if (size > 0) seeds.set(JSON.stringify([before, element, least]), { size, textOf });
  };
  const walk = (node: AST.Node, before: string): string => {
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
        for (const alternative of node.alternatives) walk(alternative, before);
        return before + sample(node);
      case 'Assertion':
        if ('alternatives' in node) for (const one of node.alternatives) walk(one, before);
        return before;
      case 'Alternative':
        return node.elements.reduce((text, element) => walk(element, text), before);
      case 'Quantifier': {
        const part = sample(node);
        if (node.max > 1) {
          add('', part); // the part alone
          add(before, part); // what leads to it once, then the part
          add('', before + part); // both, again and again
          add('', before);
        }
        if (node.min > 1) addRuns(before, sample(node.element), node.min);
        walk(node.element, before);
        return before + part;
      }
      default:
        return before + sample(node);
    }
  };
  walk(parseRegExpLiteral(literal).pattern, '');
  return [...seeds.values()];
}

const script = new Script(`texts.map((text) => {
  const began = now();
  text.replace(pattern, "");
  return now() - began;
})`);
// Never less than the processor time, whose clock is so coarse on some machines that it shows nothing of a short search.
const context = createContext({ now: () => performance.now() });

/** What finding all matches in each of the texts takes; undefined when V8 had to stop it. */
function search(pattern: RegExp, texts: string[]): number[] | undefined {
  Object.assign(context, { pattern, texts });
  try {
    return script.runInContext(context, { timeout: HOPELESS_MS }) as number[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  }
}

function notQuick(pattern: RegExp, hostile: Hostile[]): Hostile[] {
  const took = search(
    pattern,
    hostile.map(({ textOf, size }) => textOf(TIMES * size)),
  );
  return hostile.filter((_, index) => !took || took[index]! > QUICK_MS);
}

function isLinear(pattern: RegExp, { textOf, size }: Hostile): boolean {
  const long = textOf(TIMES * size);
  const isHopeless = [1, 2, 3].every(() => search(pattern, [long]) === undefined);
  return !isHopeless && growth(textOf, size, (text) => text.replace(pattern, '')) < LINEAR;
}

/** A text for which the pattern is not linear. */
function slowText(literal: string): string | undefined {
  const end = literal.lastIndexOf('/');
  const pattern = new RegExp(literal.slice(1, end), literal.slice(end + 1));
  // What was slow once may have been compiled then.
  const suspects = notQuick(pattern, notQuick(pattern, hostileTexts(literal)));
  return suspects.find((one) => !isLinear(pattern, one))?.textOf(1);
}

const files = FOLDERS.flatMap(sourcesIn);
const found = files.map((path) => ({ path, ...patternsOf(path) }));
const literals = new Map(
  found.flatMap(({ literals: all }) => all).map(({ place, literal }) => [literal, place]),
);

describe('regular expressions', () => {
  it.each([
    ['a search that begins anew', '/eyJ[\\w-]{8,}\\.[\\w-]+\\.[\\w-]*/g'],
    ['an end that is looked for from each place', '/\\/+$/'],
    ['two repetitions that share characters', '/^\\s*(.*)\\s*$/'],
    ['a long run that is looked for from each place', '/\\d{300}/'],
    ['a repeated repetition', '/^(?:a+)+$/'],
    ['an end mark that never comes', '/-----BEGIN ([A-Z]+)-----([\\s\\S]*?)-----END \\1-----/g'],
  ])('are known to be slow: %s', (_what, literal) => {
    expect(slowText(literal)).toBeDefined();
  });

  it('are found in the sources', () => {
    expect(literals.size).toBeGreaterThan(150);
  });

  it('are linear', () => {
    const slow = [...literals].flatMap(([literal, place]) => {
      const text = slowText(literal);
      return text === undefined
        ? []
        : [`${place}: ${literal} on ${JSON.stringify(text)}, repeated`];
    });
    expect(slow).toEqual([]);
  });

  it('are written down: none is made while the program runs', () => {
    const making = found.filter(({ isMaking }) => isMaking).map(({ path }) => path);
    expect(making).toEqual([]);
  });
});
