import { Problem } from '#src/kernel/index.js';
import 'reflect-metadata';
import { IsInt, IsOptional, QueryValues, readQuery } from '#src/http/index.js';
import { ConditionsQuery } from './conditions.query.js';
import { bindConditions, isFulfilled, MAX_CONDITIONS, MAX_OPERANDS } from './metadata-condition.js';
import { presentValue, readJsonValue, type MetadataField } from './metadata-field.js';

const FIELDS = new Map<string, MetadataField>(
  [
    { id: 1, name: 'run', type: 'int' as const },
    { id: 2, name: 'weight', type: 'float' as const },
    { id: 3, name: 'particle', type: 'string' as const },
    { id: 4, name: 'taken', type: 'date' as const },
    { id: 5, name: 'limit', type: 'int' as const },
  ].map((field) => [field.name, field]),
);

class PageQuery extends ConditionsQuery {
  @IsOptional()
  @IsInt()
  limit?: number;
}

function read(search: string): { limit: number | undefined; conditions: unknown[] } {
  const { limit, conditions } = readQuery(PageQuery, new QueryValues(search));
  return {
    limit,
    conditions: bindConditions(conditions, FIELDS).map((c) => [
      c.field.name,
      c.operator,
      c.operands,
    ]),
  };
}

function refusal(search: string): Problem {
  try {
    read(search);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('metadata conditions', () => {
  it.each([
    ['run=<|10', ['run', '<', [10]]],
    ['run==|10', ['run', '=', [10]]],
    ['run=>=|10', ['run', '>=', [10]]],
    ['run=!=|-3', ['run', '!=', [-3]]],
    ['run==|+10+', ['run', '=', [10]]],
    ['run=%3C%3D%7C9223372036854775807', ['run', '<=', [9223372036854775807n]]],
    ['weight=>|1.5e3', ['weight', '>', [1500]]],
    ['weight==|-0', ['weight', '=', [0]]],
    ['particle=in|e,+mu,,e', ['particle', 'in', ['e', 'mu']]],
    ['particle=nin|a|b', ['particle', 'nin', ['a|b']]],
    ["particle=in|' or 1=1 --", ['particle', 'in', ["' or 1=1 --"]]],
    ['taken=>=|2026-01-02', ['taken', '>=', [Date.UTC(2026, 0, 2)]]],
    ['taken=<|2026-01-02T03:04:05.678Z', ['taken', '<', [Date.UTC(2026, 0, 2, 3, 4, 5, 678)]]],
    ['taken==|2026-01-02T03:04:05%2B02:00', ['taken', '=', [Date.UTC(2026, 0, 2, 1, 4, 5)]]],
  ])('reads %s', (search, condition) => {
    expect(read(search)).toEqual({ limit: undefined, conditions: [condition] });
  });

  it('keeps several conditions on one key', () => {
    expect(read('run=>|1&run=<|5&run=>|2').conditions).toHaveLength(3);
  });

  it('tells a control key from a field of the same name by the bar', () => {
    expect(read('limit=5&limit=<|7&access_token=abc')).toEqual({
      limit: 5,
      conditions: [['limit', '<', [7]]],
    });
  });

  it.each([
    ['run=10', 'request.unknown-parameter', 'run'],
    ['nothing=1', 'request.unknown-parameter', 'nothing'],
    ['nothing==|1', 'request.invalid', 'nothing'],
    ['run=in|1', 'request.invalid', 'run'],
    ['run=|1', 'request.invalid', 'run'],
    ['run=like|1', 'request.invalid', 'run'],
    ['particle==|e', 'request.invalid', 'particle'],
    ['run==|', 'request.invalid', 'run'],
    ['run==|1.5', 'request.invalid', 'run'],
    ['run==|1,2', 'request.invalid', 'run'],
    ['run==|0x10', 'request.invalid', 'run'],
    ['run==|9223372036854775808', 'request.invalid', 'run'],
    ['weight==|1e400', 'request.invalid', 'weight'],
    ['weight==|NaN', 'request.invalid', 'weight'],
    ['particle=in|', 'request.invalid', 'particle'],
    ['particle=in|+,+,', 'request.invalid', 'particle'],
    ['taken==|2026-02-30', 'request.invalid', 'taken'],
    ['taken==|yesterday', 'request.invalid', 'taken'],
    ['taken==|2026-01-02T25:00:00Z', 'request.invalid', 'taken'],
  ])('refuses %s', (search, code, field) => {
    const problem = refusal(search);
    expect(problem.code).toBe(code);
    expect(problem.status).toBe(400);
    expect(problem.violations).toEqual([{ field, problem: expect.any(String) }]);
  });

  it('refuses more conditions than a request may have', () => {
    const search = (many: number) => Array.from({ length: many }, (_, n) => `run=>|${n}`).join('&');
    expect(read(search(64)).conditions).toHaveLength(64);
    const problem = refusal(search(65));
    expect([problem.status, problem.detail, problem.violations]).toEqual([
      400,
      'More than 64 conditions in one request',
      [],
    ]);
    expect([MAX_CONDITIONS, MAX_OPERANDS]).toEqual([64, 1000]);
  });

  it('refuses more values than one condition may have', () => {
    const search = (many: number) =>
      `particle=in|${Array.from({ length: many }, (_, n) => `p${n}`).join(',')}`;
    expect(read(search(1000)).conditions).toHaveLength(1);
    expect(refusal(search(1001)).violations).toEqual([
      { field: 'particle', problem: 'more than 1000 values' },
    ]);
  });

  it.each([
    ['nothing==|1', 'is no metadata field'],
    ['run=in|1', 'has type int; its operators are < > = <= >= !='],
    ['weight=|1', 'has type float; its operators are < > = <= >= !='],
    ['taken=nin|1', 'has type date; its operators are < > = <= >= !='],
    ['particle==|e', 'has type string; its operators are in nin'],
    ['particle=in|', 'the operand of in is empty'],
    ['particle=nin|+,', 'the operand of nin is empty'],
  ])('says of %s: %s', (search, problem) => {
    const field = search.slice(0, search.indexOf('='));
    expect(refusal(search).violations).toEqual([{ field, problem }]);
  });

  it('says what is wrong with an operand', () => {
    expect(refusal('run==|x').violations?.[0]?.problem).toMatch(/^the operand ./);
  });

  it('lists every fault, and every unknown key once', () => {
    expect(refusal('run=in|1&weight=<|1&nothing==|1').violations).toEqual([
      { field: 'run', problem: 'has type int; its operators are < > = <= >= !=' },
      { field: 'nothing', problem: 'is no metadata field' },
    ]);
    const problem = refusal('x=1&limit=5&y=2&x=3&run=<|1');
    expect(problem.detail).toBe(
      'Unknown query parameter: x, y (a condition is written operation|value)',
    );
    expect(problem.violations?.map(({ field }) => field)).toEqual(['x', 'y']);
  });

  it('reads blanks around the operator, and an operand with its own bar', () => {
    expect(read('run=+<+|3').conditions).toEqual([['run', '<', [3]]]);
    expect(read('particle=in|a|b').conditions).toEqual([['particle', 'in', ['a|b']]]);
  });

  it.each([
    ['run=<|5', 4, true],
    ['run=<|5', 5, false],
    ['run=<|5', undefined, false],
    ['run=>|5', 5, false],
    ['run=>|5', 6, true],
    ['run=<=|5', 5, true],
    ['run=<=|5', 6, false],
    ['run=>=|5', 5, true],
    ['run=>=|5', 6, true],
    ['run=>=|5', 4, false],
    ['run==|5', 5, true],
    ['run==|5', 4, false],
    ['run=!=|5', 5, false],
    ['particle=in|e,mu', 'mu', true],
    ['particle=in|e,mu', 'tau', false],
    ['particle=nin|e,mu', 'mu', false],
    ['run=!=|5', 4, true],
    ['run=!=|5', undefined, false],
    ['run=>|9223372036854775806', 9223372036854775807n, true],
    ['particle=nin|e', 'mu', true],
    ['particle=nin|e', undefined, false],
  ])('%s with %s is %s', (search, value, expected) => {
    const { conditions } = readQuery(ConditionsQuery, new QueryValues(search));
    const [condition] = bindConditions(conditions, FIELDS);
    expect(condition && isFulfilled(condition, value)).toBe(expected);
  });
});

describe('metadata values', () => {
  it.each([
    ['int', 3, 3],
    ['int', 2n ** 60n, 2n ** 60n],
    ['float', 2, 2],
    ['int', '9007199254740993', 9007199254740993n],
    ['int', '07', 7],
    ['float', '4.10', 4.1],
    ['float', '0.1', 0.1],
    ['float', '1.7976931348623157e308', 1.7976931348623157e308],
    ['float', '0.10000000000000001', 0.1],
    ['float', '1.000000000000000056e-01', 0.1],
    ['float', '-3.141592653589793116', -Math.PI],
    ['float', '9007199254740994', 9007199254740994],
    ['float', 9007199254740994n, 9007199254740994],
    ['float', '-1.50000000000000000000e3', -1500],
    ['string', '07', '07'],
    ['string', '4.10', '4.10'],
    ['string', 'a|b', 'a|b'],
    ['date', '2026-01-02', '2026-01-02T00:00:00.000Z'],
  ] as const)('of type %s take %s', (type, json, shown) => {
    const read = readJsonValue(type, json);
    expect('value' in read && presentValue(type, read.value)).toBe(shown);
  });

  it.each([
    ['int', 1.5],
    ['int', '3.0'],
    ['int', ' 3'],
    ['int', '9223372036854775808'],
    ['int', ''],
    ['float', '1e999'],
    ['int', 2n ** 63n],
    ['float', 'x'],
    ['string', 3],
    ['string', ''],
    ['string', 'a,b'],
    ['string', ' a'],
    ['string', 'a\0'],
    ['string', '\ud800'],
    ['string', 'x'.repeat(256)],
    ['date', 20260102],
    ['date', '2026-01-02T00:00:00.1234Z'],
    ['date', true],
  ] as const)('of type %s refuse %j', (type, json) => {
    expect(readJsonValue(type, json)).toEqual({ fault: expect.any(String) });
  });

  it.each([
    '9007199254740993',
    9007199254740993n,
    '0.123456789012345678',
    '-1.23456789012345678901e9',
  ])('of type float refuse %s, which would become another number', (json) => {
    const fault =
      'has more digits than a float keeps (17, in whole numbers up to 2^53 all): a field of type int or string keeps them';
    expect(readJsonValue('float', json)).toEqual({ fault });
  });
});
