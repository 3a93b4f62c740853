import { outputName } from './output-names.js';
import { planOf } from './run-plan.js';

describe('outputName', () => {
  const plan = planOf({
    manifest: {
      StdOutput: 'my.out',
      StdError: 'my.err',
      OutputSandbox: ['*.log', './results/', 'sub/*/x?', 'std.err'],
    },
  });

  it.each([
    ['my.out', 'my.out'],
    ['my.err', 'my.err'],
    ['std.out', 'my.out'],
    ['std.err', 'std.err'],
    ['a.log', 'a.log'],
    ['.hidden.log', undefined],
    ['d/a.log', undefined],
    ['a.log/below', 'a.log/below'],
    ['results/a/b', 'results/a/b'],
    ['results', 'results'],
    ['resultsx/a', undefined],
    ['sub/one/x1', 'sub/one/x1'],
    ['sub/one/two/x1', undefined],
    ['private.key', undefined],
    ['', undefined],
  ])('%j is %j', (name, expected) => {
    expect(outputName(plan, name)).toBe(expected);
  });

  it.each(['.', './'])('gives everything for %j, the whole directory', (pattern) => {
    const whole = planOf({ manifest: { OutputSandbox: [pattern] } });
    expect(['.rc', 'd/a', ''].map((name) => outputName(whole, name))).toEqual([
      '.rc',
      'd/a',
      undefined,
    ]);
  });

  it('gives standard output and error also where a job gives nothing else back', () => {
    const bare = planOf({ manifest: { OutputSandbox: [] } });
    expect(outputName(bare, 'std.out')).toBe('std.out');
    expect(outputName(bare, 'std.err')).toBe('std.err');
    expect(outputName(bare, 'other')).toBeUndefined();
  });
});
