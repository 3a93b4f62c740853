import type { JsonValue } from '#src/kernel/index.js';
import { readToken } from './job-token.js';
import { Faults } from './manifest-values.js';

const read = (Token?: JsonValue) => {
  const faults = new Faults();
  return { wish: readToken(Token === undefined ? {} : { Token }, faults), faults: faults.list };
};

describe('readToken', () => {
  it.each<[JsonValue | undefined, object | undefined]>([
    [undefined, undefined],
    [{ scope: 'jobs:read' }, { scope: 'jobs:read' }],
    [{ scope: ' a  b ' }, { scope: 'a b' }],
    [
      { scope: 'a', audience: 'https://x' },
      { scope: 'a', audience: ['https://x'] },
    ],
    [
      { scope: 'a', audience: ['x', 'y'] },
      { scope: 'a', audience: ['x', 'y'] },
    ],
    [{ scope: Array(100).fill('a').join(' ') }, { scope: Array(100).fill('a').join(' ') }],
  ])('reads %j', (token, wish) => {
    expect(read(token)).toEqual({ wish, faults: [] });
  });

  it.each<[JsonValue, string, string]>([
    [null, 'Token', 'must be an object with scope and audience'],
    [true, 'Token', 'must be an object with scope and audience'],
    [[], 'Token', 'must be an object with scope and audience'],
    [{ audience: 'x' }, 'Token.scope', 'is missing'],
    [{ scope: 1 }, 'Token.scope', 'must be a text'],
    [{ scope: '' }, 'Token.scope', 'is empty'],
    [{ scope: Array(101).fill('a').join(' ') }, 'Token.scope', 'has more than 100 words'],
    [{ scope: 'a', audience: '' }, 'Token.audience', 'is empty'],
    [{ scope: 'a', audience: [] }, 'Token.audience', 'is empty'],
    [{ scope: 'a', audience: ['x', ''] }, 'Token.audience', 'is empty'],
    [{ scope: 'a', audience: null }, 'Token.audience', 'must be a text or a list of texts'],
    [{ scope: 'a', Audience: 'x' }, 'Token.Audience', 'is not known: scope and audience are'],
  ])('refuses %j', (token, field, problem) => {
    expect(read(token).faults).toEqual([{ field, problem }]);
  });
});
