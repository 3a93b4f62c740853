import type { JsonObject } from '#src/kernel/index.js';
import { splitArguments } from './arguments.js';
import {
  brokenValue,
  fillTemplate,
  insertJobId,
  isParametric,
  readTemplate,
} from './parametric.js';

/** All manifests of a template, or what is wrong with it. */
function expand(manifest: JsonObject, limit = 1000) {
  const read = readTemplate(manifest, limit);
  if ('violations' in read) return { manifests: [], violations: read.violations };
  const { template } = read;
  const violations = [...template.overflows()].filter((violation) => violation !== undefined);
  if (violations.length > 0) return { manifests: [], violations };
  const manifests = [...template.values()].map((values) => fillTemplate(template.manifest, values));
  return { manifests, violations: [] };
}

describe('parametric manifests', () => {
  it('makes one job for each element of a list', () => {
    expect(expand({ Arguments: '%n: %s', Parameters: ['a', 2] }).manifests).toEqual([
      { Arguments: '0: a' },
      { Arguments: '1: 2' },
    ]);
  });

  it('counts with start, step and factor', () => {
    const { manifests } = expand({
      Arguments: '%s',
      Parameters: 4,
      ParameterStart: 1,
      ParameterStep: 2,
      ParameterFactor: 3,
    });
    expect(manifests.map((m) => m['Arguments'])).toEqual(['1', '5', '17', '53']);
  });

  it.each<[string, JsonObject, string[]]>([
    ['a tenth', { ParameterStart: 0, ParameterStep: 0.1 }, ['0', '0.1', '0.2', '0.3']],
    ['a tenth down', { ParameterStart: 0.2, ParameterStep: -0.1 }, ['0.2', '0.1', '0', '-0.1']],
    ['texts', { ParameterStart: '1.10', ParameterStep: '0.05' }, ['1.1', '1.15', '1.2', '1.25']],
    [
      'a power of ten',
      { ParameterStart: 0, ParameterStep: 1e-7 },
      '0 0.0000001 0.0000002 0.0000003'.split(' '),
    ],
    [
      'large numbers',
      { ParameterStart: 1e21, ParameterStep: 1 },
      [0, 1, 2, 3].map((n) => `100000000000000000000${n}`),
    ],
    [
      'all digits',
      { ParameterStart: '0.12345678901234567890', ParameterStep: 1 },
      [0, 1, 2, 3].map((n) => `${n}.1234567890123456789`),
    ],
    [
      'a whole start beyond 2^53',
      { ParameterStart: 12345678901234567890n, ParameterStep: 1 },
      [0, 1, 2, 3].map((n) => `1234567890123456789${n}`),
    ],
    [
      'a whole factor beyond 2^53',
      { ParameterStart: 9007199254740993n, ParameterFactor: 3, ParameterStep: '1.0' },
      ['9007199254740993', '27021597764222980', '81064793292668941', '243194379878006824'],
    ],
    [
      'a factor with decimals beyond 2^53',
      { ParameterStart: 1e15, ParameterFactor: 15.5 },
      ['1000000000000000', '15500000000000000', '240250000000000000', '3723875000000000000'],
    ],
    [
      'numbers as programs write them',
      { ParameterStart: '1E-2', ParameterStep: '2.5e+1' },
      ['0.01', '25.01', '50.01', '75.01'],
    ],
    ['a factor', { ParameterStart: 1, ParameterFactor: 1.1 }, ['1', '1.1', '1.21', '1.331']],
  ])('counts in decimals: %s', (_what, steps, values) => {
    const { manifests } = expand({ Arguments: '%s', Parameters: 4, ...steps });
    expect(manifests.map((m) => m['Arguments'])).toEqual(values);
  });

  it('pads %n to the width of the count, from 0', () => {
    const { manifests } = expand({ JobName: 'j%n', Parameters: 100 });
    expect([manifests[0]?.['JobName'], manifests[99]?.['JobName']]).toEqual(['j000', 'j099']);
  });

  it('replaces in nested texts, and named sequences by their names', () => {
    const { manifests } = expand({
      Deep: { list: ['%(run)s-%(tag)s'] },
      'Parameters.run': [1, 2],
      'Parameters.tag': ['x', 'y'],
    });
    expect(manifests).toEqual([{ Deep: { list: ['1-x'] } }, { Deep: { list: ['2-y'] } }]);
  });

  it.each<[string, JsonObject, string, string]>([
    ['a count of nothing', { Parameters: 0 }, 'Parameters', 'must be at least 1'],
    ['an empty list', { Parameters: [] }, 'Parameters', 'must have at least one element'],
    ['objects', { Parameters: [{}] }, 'Parameters', 'must hold texts and numbers only'],
    ['a fraction', { Parameters: 1.5 }, 'Parameters', 'must be a whole number or a list'],
    [
      'sequences of different lengths',
      { 'Parameters.a': [1], 'Parameters.b': [1, 2] },
      'Parameters',
      'the named sequences differ in length',
    ],
    [
      'a start that is none',
      { Parameters: 2, ParameterStart: 'x' },
      'ParameterStart',
      'must be a number of at most 50 digits before and behind the point',
    ],
    [
      'too many',
      { Parameters: 1_000_000_000 },
      'Parameters',
      'makes 1000000000 jobs, at most 1000 are allowed in one request',
    ],
    [
      'a factor beyond all numbers',
      { 'Parameters.a': 3, 'ParameterFactor.a': 1e308, 'ParameterStart.a': 2 },
      'Parameters.a',
      'the number of job 1 is too large, see its factor and step',
    ],
    [
      'digits that a factor with decimals does not keep',
      { Parameters: 2, ParameterStart: '9007199254740993', ParameterFactor: 1.5 },
      'Parameters',
      'start, step and factor have at most 15 digits each where one of them has decimals and there is a factor: write the values as a list of texts',
    ],
    ['a start of nothing', { ParameterStart: 3 }, 'ParameterStart', 'needs Parameters'],
    [
      'a step of another sequence',
      { Parameters: 2, 'Parameters.a': 2, 'ParameterStep.b': 1 },
      'ParameterStep.b',
      'needs Parameters.b',
    ],
  ])('refuses %s', (_what, manifest, field, problem) => {
    expect(expand(manifest)).toEqual({ manifests: [], violations: [{ field, problem }] });
  });

  it('looks at thousands of sequences in parts', () => {
    const sequences = Array.from({ length: 100 }, (_, n) => [`Parameters.${n}`, 999] as const);
    const read = readTemplate({ ...Object.fromEntries(sequences), ParameterFactor: 1.1 }, 1000);
    if ('violations' in read) throw new Error('the template was refused');
    const parts = [...read.template.overflows()];
    expect(parts.length).toBeGreaterThanOrEqual(9);
    expect(parts.every((part) => part === undefined)).toBe(true);
  });

  it('takes a factor without a name for every named sequence', () => {
    expect(expand({ N: '%(a)s', 'Parameters.a': 3, ParameterFactor: 2 })).toEqual({
      manifests: [{ N: '1' }, { N: '2' }, { N: '4' }],
      violations: [],
    });
  });

  it('leaves place-holders of ordinary manifests alone, but for the job id', () => {
    expect(isParametric({ Arguments: '+%s' })).toBe(false);
    expect(insertJobId({ Arguments: '+%s %j', N: 1 }, 42n)).toEqual({ Arguments: '+%s 42', N: 1 });
  });
});

describe('a value in the text of Arguments', () => {
  it.each([
    ['--in %s', 'a.dat', undefined],
    ['--in "%s"', 'a b.dat', undefined],
    ['--in %s', 'a b.dat', { value: 'a b.dat', hasNoEnd: false }],
    ['--in %s', '', { value: '', hasNoEnd: false }],
    ['--in %s', 'a\\b', { value: 'a\\b', hasNoEnd: false }],
    ['--in %s', '"a"', { value: '"a"', hasNoEnd: false }],
    ["--in '%s'", "it's", { value: "it's", hasNoEnd: true }],
    ['--in %s', "it's", { value: "it's", hasNoEnd: true }],
    ['--in "%s"', '$& "', { value: '$& "', hasNoEnd: true }],
    ['"--in', 'a b', undefined],
    ['--in', 'a b', undefined],
  ])('in %j, %j is broken: %j', (text, value, expected) => {
    expect(brokenValue({ manifest: { Arguments: text } }, { '%s': value })).toEqual(expected);
  });

  it('stays whole in a list', () => {
    expect(brokenValue({ manifest: { Arguments: ['%s'] } }, { '%s': "it's" })).toBeUndefined();
  });
});

describe('splitArguments', () => {
  it.each([
    [`a "b c" 'd e'`, ['a', 'b c', 'd e']],
    ['a\\ b', ['a b']],
    ['$HOME `id` $(id) *', ['$HOME', '`id`', '$(id)', '*']],
    [`'' ""`, ['', '']],
    ['', []],
    ['a;b|c>d', ['a;b|c>d']],
  ])('splits %j like a shell, without expansion', (text, words) => {
    expect(splitArguments(text)).toEqual(words);
  });

  it('takes a list as it is', () => {
    expect(splitArguments(['a b', '"'])).toEqual(['a b', '"']);
  });

  it('throws for a quote without end', () => {
    expect(() => splitArguments('"a')).toThrow();
  });
});
