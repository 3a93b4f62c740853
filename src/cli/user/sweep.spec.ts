import { countOf, parameterOf, productOf } from './sweep.js';

describe('a sweep', () => {
  it.each([
    ['x=1,2,3', [1, 2, 3]],
    ['x=a,b c,007,1e3,-2', ['a', 'b c', '007', '1e3', -2]],
    ['x=0:10:5', [0, 5, 10]],
    ['x=3:1:-1', [3, 2, 1]],
    ['x=1:3', [1, 2, 3]],
    ['x=0:0.4:0.1', [0, 0.1, 0.2, 0.3, 0.4]],
    ['x=001:003', ['001', '002', '003']],
    ['x=8:012:2', ['008', '010', '012']],
    ['x=0:2', [0, 1, 2]],
    ['x=1:2:0.4', [1, 1.4, 1.8]],
    ['x=https://a:80', ['https://a:80']],
    ['x=a=b', ['a=b']],
  ])('reads %s', (word, values) => {
    expect(parameterOf(word)).toEqual({ name: 'x', values });
  });

  it.each([
    ['x', '--sweep x has no values'],
    ['1x=2', '--sweep 1x=2 has no values'],
    ['x=', '--sweep x= has no values'],
    ['x=1,,2', 'a value is empty'],
    ['x=1:2:0', 'it has no value'],
    ['x=2:1', 'it has no value'],
    ['x=-01:3', 'zeros before a number are kept in whole numbers from 0 on'],
    ['x=00.5:3', 'zeros before a number are kept in whole numbers from 0 on'],
    ['x=900000000000001:900000000000003:0.01', 'has more digits than a number keeps'],
    ['x=0:1000000', 'makes 1000001 jobs, at most 100000'],
  ])('refuses %s', (word, reason) => {
    expect(() => parameterOf(word)).toThrow(reason);
  });

  it('makes every combination once, the last parameter fastest', () => {
    const parameters = ['a=1,2', 'b=x,y,z'].map(parameterOf);
    expect(productOf(parameters)).toEqual({
      'Parameters.a': [1, 1, 1, 2, 2, 2],
      'Parameters.b': ['x', 'y', 'z', 'x', 'y', 'z'],
    });
  });

  it('refuses a parameter given twice and a product beyond all use', () => {
    expect(() => countOf(['a=1', 'a=2'].map(parameterOf))).toThrow('--sweep a is given twice');
    expect(() => countOf(['a=1:1000', 'b=1:1000'].map(parameterOf))).toThrow('makes 1000000 jobs');
  });
});
