import { describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import { QueryValues } from './messages.js';

function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, violations: error.violations };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('QueryValues', () => {
  it('is a plain multi-map', () => {
    const query = new QueryValues('a=1&a=2&b[c]=3&run=%3E%3D%7C10&empty&plus=a+b');
    expect(query.keys()).toEqual(['a', 'b[c]', 'run', 'empty', 'plus']);
    expect(query.all('a')).toEqual(['1', '2']);
    expect(query.all('b[c]')).toEqual(['3']);
    expect(query.single('run')).toBe('>=|10');
    expect(query.single('plus')).toBe('a b');
    expect(query.single('absent')).toBeUndefined();
  });

  it('takes more keys than any parser limit', () => {
    const search = Array.from({ length: 5_000 }, (_x, index) => `jid=${index}`).join('&');
    expect(new QueryValues(search).all('jid')).toHaveLength(5_000);
  });

  it.each([
    ['x=true', true],
    ['x=1', true],
    ['x=YES', true],
    ['x', true],
    ['x=', true],
    ['x=false', false],
    ['x=0', false],
    ['x=no', false],
    ['', false],
  ])('reads the boolean of %p as %p', (search, expected) => {
    expect(new QueryValues(search).boolean('x')).toBe(expected);
  });

  it.each(['x=maybe', 'x=2', 'x=on', 'x=true&x=true'])('refuses the boolean %p', (search) => {
    expect(refusal(() => new QueryValues(search).boolean('x'))).toMatchObject({
      code: 'request.invalid',
      violations: [{ field: 'x' }],
    });
  });

  it.each([
    ['n=5', 5],
    ['n=5000', 1000],
    ['', 100],
  ])('reads and clamps the integer of %p', (search, expected) => {
    const query = new QueryValues(search);
    expect(query.integer('n', 100, { min: 1, max: 1000, clamp: true })).toBe(expected);
  });

  it.each(['n=0', 'n=-1', 'n=1.5', 'n=abc', 'n=', 'n=1e3', 'n=99999999999999999999', 'n=1&n=2'])(
    'refuses the integer %p',
    (search) => {
      const query = new QueryValues(search);
      expect(refusal(() => query.integer('n', 100, { min: 1 }))).toMatchObject({
        code: 'request.invalid',
      });
    },
  );

  it('parts its values, each by itself', () => {
    const [wanted, others] = new QueryValues('a=1&b=2&a=3').split((_key, value) => value !== '1');
    expect([wanted.keys(), wanted.all('a'), wanted.all('b')]).toEqual([['a', 'b'], ['3'], ['2']]);
    expect([others.keys(), others.all('a')]).toEqual([['a'], ['1']]);
  });

  it('refuses NUL', () => {
    expect(refusal(() => new QueryValues('a=%00'))).toEqual({
      code: 'request.invalid',
      violations: [{ field: 'a', problem: 'contains a NUL character' }],
    });
  });
});

describe('a whole number beyond the bounds', () => {
  const huge = '26682051376729000';
  it.each([
    [{ min: 0 }, 'must be at most 9007199254740991'],
    [{ min: 0, max: 10 }, 'must be at most 10'],
  ])('is said to be beyond them: %j', (rule, problem) => {
    const read = (): unknown => new QueryValues(`n=${huge}`).integer('n', 1, rule);
    expect(read).toThrow(expect.objectContaining({ violations: [{ field: 'n', problem }] }));
  });

  it('is the bound where that is the rule', () => {
    const values = new QueryValues(`n=${huge}${huge}`);
    expect(values.integer('n', 1, { min: 0, max: 10, clamp: true })).toBe(10);
    expect(values.integer('n', 1, { min: 0, clamp: true })).toBe(Number.MAX_SAFE_INTEGER);
  });
});
