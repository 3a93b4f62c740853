import { parseJson } from './json.js';
import { repeatedMember } from './json-members.js';

describe('repeatedMember', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1, "\\u0061" : {}}', 'a'],
    ['{"x":[{"b":1},{"b":2,"c":[],"b":3}]}', 'b'],
    ['[{"":1,"":1}]', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a:\\"b":{"k":":"},"a:\\"b":9007199254740993}', 'a:"b'],
    ['{"a":{"a":{"a":1}},"b":{"a":1}}', undefined],
    ['[{"a":":"},{"a":"\\\\"},":"]', undefined],
    ['{"__proto__":{"constructor":1}}', undefined],
    ['{"2":1,"1":9007199254740993}', undefined],
    ['":"', undefined],
  ])('of %s is %p', (text, name) => {
    expect(repeatedMember(text, parseJson(text))).toBe(name);
  });

  it('looks at deep and long texts as others', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const list = `[${Array.from({ length: 10_000 }, (_, at) => `{"a":${at}}`).join(',')}]`;
    expect([deep, list].map((text) => repeatedMember(text, parseJson(text)))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
