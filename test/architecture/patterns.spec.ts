import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/**
 * Every regular expression of the sources must be linear: each is run on long hostile texts made from its own parts. A
 * linear one takes a millisecond or two for them, a quadratic one seconds. What ESLint's rules against super-linear
 * patterns cannot see (a search that begins anew at many places behind a fixed start) is found here.
 */
const FOLDERS = ['src', 'examples', 'deploy', 'bin'];
const LENGTH = 500_000;
const LIMIT_MS = 400;

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
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const literals: Found[] = [];
  let isMaking = false;
  visit(file, (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      literals.push({ place: `${path}:${line + 1}`, literal: node.text });
    }
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isCall && node.expression.getText() === 'RegExp') isMaking = true;
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

/** Texts that repeat each repeated part, alone, behind what leads to it, and with it. */
function hostileTexts(literal: string): string[] {
  const seeds = new Set<string>();
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
          seeds.add(`\u0000${part}`); // the part alone
          seeds.add(`${before}\u0000${part}`); // what leads to it once, then the part
          seeds.add(`\u0000${before}${part}`); // both, again and again
          seeds.add(`\u0000${before}`);
        }
        // Runs that are one too short: each place of one looks as far as its end.
        const short = sample(node.element).repeat(Math.max(0, node.min - 1));
        if (short !== '') seeds.add(`\u0000${before}${short}\u0002`);
        walk(node.element, before);
        return before + part;
      }
      default:
        return before + sample(node);
    }
  };
  walk(parseRegExpLiteral(literal).pattern, '');
  return [...seeds].flatMap((seed) => {
    const [once = '', repeated = ''] = seed.split('\u0000');
    if (repeated === '') return [];
    const text = once + repeated.repeat(Math.ceil(LENGTH / repeated.length));
    return [text, `${text}\n\u0001`, `${text}!`];
  });
}

const script = new Script('text.replace(pattern, "")');
const context = createContext({}) as { pattern?: RegExp; text?: string };

/** Whether all matches in the text are found within the limit; V8 stops what takes longer. */
function isQuick(literal: string, text: string): boolean {
  const end = literal.lastIndexOf('/');
  context.pattern = new RegExp(literal.slice(1, end), literal.slice(end + 1));
  context.text = text;
  try {
    script.runInContext(context, { timeout: LIMIT_MS });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}

/** A busy machine is not the pattern's fault: slow is what is slow three times. */
function slowText(literal: string): string | undefined {
  return hostileTexts(literal).find(
    (text) => !isQuick(literal, text) && !isQuick(literal, text) && !isQuick(literal, text),
  );
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

  it.each([...literals])('%s is linear', (literal, place) => {
    const slow = slowText(literal);
    expect(slow && `${place}: ${JSON.stringify(slow.slice(0, 60))}…`).toBeUndefined();
  });

  it('are written down: none is made while the program runs', () => {
    const making = found.filter(({ isMaking }) => isMaking).map(({ path }) => path);
    expect(making).toEqual([]);
  });
});
