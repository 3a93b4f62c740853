import { claimParser, checkAttributes } from './claim-parser.js';
import { compilePattern, MAX_STEPS, MAX_VALUE_LENGTH } from './claim-pattern.js';

const KV = '^(?P<k>\\w):(?P<v>\\d)';

describe('claimParser', () => {
  it.each([
    ['1: text', { id: 'ab:cd' }, { id: '^(?P<x>\\w+):(?P<y>\\w+)$' }, { id: { x: 'ab', y: 'cd' } }],
    ['2: no match keeps the key', { id: 'abcd' }, { id: '^(?P<x>\\w+):(?P<y>\\w+)$' }, { id: {} }],
    ['3: absent claim', { other: 'v' }, { id: KV }, {}],
    [
      '4: list',
      { ent: ['x:1', 'zz', 'y:2'] },
      { ent: KV },
      {
        ent: [
          { k: 'x', v: '1' },
          { k: 'y', v: '2' },
        ],
      },
    ],
    ['5: object', { a: { b: 'x:1', c: 'q' } }, { a: { b: KV } }, { a: { b: { k: 'x', v: '1' } } }],
    [
      '6: list of objects',
      { a: [{ b: 'x:1' }, { c: 1 }, { b: 'zz' }] },
      { a: { b: KV } },
      { a: [{ b: { k: 'x', v: '1' } }, { b: {} }] },
    ],
    [
      '7: optional group',
      { a: 'x' },
      { a: '^(?P<k>\\w)(?::(?P<v>\\d))?' },
      { a: { k: 'x', v: null } },
    ],
    ['8: anchored at the start', { a: 'zzx:1' }, { a: '(?P<k>x):(?P<v>\\d)' }, { a: {} }],
    ['9: no names, text', { a: 'abc' }, { a: 'abc' }, { a: {} }],
    ['9: no names, list', { a: ['abc', 'd'] }, { a: 'abc' }, { a: [{}] }],
    ['number', { a: 42 }, { a: '(?P<n>\\d+)' }, { a: { n: '42' } }],
    ['boolean', { a: true }, { a: '(?P<n>\\w+)' }, { a: { n: 'true' } }],
    ['list of numbers', { a: [1, 'x', null] }, { a: '(?P<n>\\d)' }, { a: [{ n: '1' }] }],
    ['null is absent', { a: null }, { a: KV }, {}],
    ['text with nested spec', { a: 'x:1' }, { a: { b: KV } }, { a: {} }],
    ['object with pattern', { a: { b: 1 } }, { a: KV }, { a: {} }],
    ['list of texts with nested spec', { a: ['x:1'] }, { a: { b: KV } }, { a: [] }],
    ['back reference', { a: 'xx' }, { a: '(?P<k>\\w)(?P=k)$' }, { a: { k: 'x' } }],
    ['inline flag', { a: 'ABC' }, { a: '(?i)(?P<k>abc)' }, { a: { k: 'ABC' } }],
    ['escaped parenthesis', { a: '(P' }, { a: '(?P<k>\\(P)' }, { a: { k: '(P' } }],
    ['too long', { a: `x:1${'y'.repeat(MAX_VALUE_LENGTH)}` }, { a: KV }, { a: {} }],
  ])('%s', (_name, claims, attributes, expected) => {
    expect(claimParser(claims, attributes)).toEqual(expected);
  });

  it('treats __proto__ and inherited names as ordinary, absent claims', () => {
    const attributes = JSON.parse('{"__proto__": "(?P<k>.)", "toString": "(?P<k>.)"}') as Record<
      string,
      string
    >;
    expect(Object.keys(claimParser({}, attributes))).toEqual([]);
    const claims = JSON.parse('{"__proto__": "x"}') as Record<string, unknown>;
    const result = claimParser(claims, attributes);
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(result)).toBeNull();
  });

  it.each([null, undefined, 'text', 7, ['list']])('claims that are %j say nothing', (claims) => {
    expect(claimParser(claims as never, { a: 'x', length: '.', 0: '.' })).toEqual({});
  });

  it.each(['(', '(?P<x', '[', '(?P=y', '*'])(
    'an invalid pattern %j is a configuration error',
    (pattern) => {
      expect(() => claimParser({ a: 'x' }, { a: pattern })).toThrow('configuration_error');
      expect(() => claimParser({}, { a: { b: pattern } })).toThrow('configuration_error');
      expect(() => checkAttributes({ a: { b: pattern } })).toThrow('configuration_error');
    },
  );

  it.each([
    ['(a+)+$', 20 * 1_001],
    ['(a|aa)+$', 20 * 1_001],
    ['a*a*a*a*b', 30 * 1_001],
    ['(\\w*)*x', MAX_STEPS],
    ['(?P<g>a+)+(?P=g)b', MAX_STEPS],
  ])('a runaway pattern %s ends after %d steps at most', (pattern, most) => {
    const value = `${'a'.repeat(1000)}!`;
    expect(claimParser({ a: value }, { a: pattern })).toEqual({ a: {} });
    const budget = { left: MAX_STEPS };
    expect(compilePattern(pattern).match(value, budget)).toBeUndefined();
    expect(MAX_STEPS - budget.left).toBeLessThanOrEqual(most);
  });
});
