import { execFileSync } from 'node:child_process';
import { claimParser } from '#src/id-provider/library.js';
import { ConfigurationError } from '#src/oauth2-client/index.js';
import { runs } from '../support/counts.js';
import { describeWith, has } from '../support/missing.js';
import { PATTERNS, TEXTS } from './support/claim-pattern-table.js';

/** A pattern and what Python's `re` makes of a text: named groups, null for no match, error. */
type Case = [pattern: string, text: string];
type Answer = Record<string, string | null> | null | 'error' | 'unassigned';

function byPython(cases: readonly Case[]): Answer[] {
  const input = JSON.stringify(cases);
  const answers = execFileSync('python3', ['test/support/python_patterns.py'], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(answers) as Answer[];
}

function byUs([pattern, text]: Case): Answer {
  try {
    const { list } = claimParser({ list: [text] }, { list: pattern });
    const [found] = list as Record<string, string | null>[];
    return found === undefined ? null : { ...found };
  } catch (error) {
    if (error instanceof ConfigurationError) return 'error';
    throw error;
  }
}

function expectLikePython(cases: readonly Case[]): void {
  const theirs = byPython(cases);
  const differing = cases.flatMap((one, index) => {
    const ours = byUs(one);
    const isNew = theirs[index] === 'unassigned' || /\p{Cn}/u.test(one[1]);
    const same = isNew || JSON.stringify(ours) === JSON.stringify(theirs[index]);
    return same ? [] : [{ case: one, ours, python: theirs[index] }];
  });
  expect(differing).toEqual([]);
}

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

const ATOMS = [
  'a',
  'b',
  '.',
  '\\w',
  '[ab]',
  '[^a]',
  '(?:a|b)',
  '(?:ab|a)',
  '(?:a|)',
  '(?=a)',
  '(?!b)',
  '\\b',
  '^',
  '$',
  '(?:a*)',
  '(?:b?)',
  '(?<=a)',
  '(?i:A)',
];
const REPEATS = ['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,2}?', '{,1}'];

function inventedPatterns(count: number): string[] {
  const random = numbers(7);
  const next = (below: number): number => (random.next().value as number) % below;
  const part = (depth: number, names: { n: number }): string => {
    const size = 1 + next(3);
    let text = '';
    for (let item = 0; item < size; item += 1) {
      const kind = depth > 2 ? 0 : next(6);
      let atom = ATOMS[next(ATOMS.length)] ?? '';
      if (kind === 1) atom = `(?P<g${(names.n += 1)}>${part(depth + 1, names)})`;
      else if (kind === 2) atom = `(?:${part(depth + 1, names)}|${part(depth + 1, names)})`;
      else if (kind === 3) atom = `(?=${part(depth + 1, names)})`;
      text += atom + (REPEATS[next(REPEATS.length)] ?? '');
    }
    return text;
  };
  return Array.from({ length: count }, () => part(0, { n: 0 }));
}

describeWith({ met: has('python3'), name: 'python3' })('claim patterns of Python', () => {
  it('mean what they mean to Python, for a table of patterns and texts', () => {
    expectLikePython(PATTERNS.flatMap((pattern) => TEXTS.map((text): Case => [pattern, text])));
  });

  it('mean what they mean to Python, for invented ones', () => {
    const texts = ['', 'a', 'b', 'ab', 'ba', 'aab', 'abab', 'bbaab', 'aaaa', 'b\n'];
    expectLikePython(
      inventedPatterns(runs(1_500)).flatMap((one) => texts.map((text): Case => [one, text])),
    );
  });

  it('mean what they mean to Python for every character of the basic plane', () => {
    const classes = [
      '(?P<x>\\w)',
      '(?P<x>\\d)',
      '(?P<x>\\s)',
      '(?i)(?P<x>[a-z])',
      '(?i)(?P<x>[α-ω])',
    ];
    const cases = classes.flatMap((pattern) =>
      Array.from({ length: 0x2200 }, (_, point): Case => [pattern, String.fromCharCode(point)]),
    );
    expectLikePython(cases);
  });
});

describe('claim patterns', () => {
  it.each([
    'a*+',
    'a++',
    'a?+',
    '(?>a)',
    '\\N{SPACE}',
    '(?P<x>a){1001}',
    '(?:\\w{100}){100}',
    '('.repeat(200),
  ])('refuses what is not carried over: %s', (pattern) => {
    expect(byUs([pattern, 'a'])).toBe('error');
  });
});
