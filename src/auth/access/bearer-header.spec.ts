import { bearerHeaderOf } from './bearer-header.js';

describe('the bearer token of a header', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['abc bearer', 'abc'],
    ['\tBEARER  abc ', 'abc'],
    [undefined, undefined],
    ['', undefined],
    ['Bearer', undefined],
    ['Basic abc', undefined],
    ['Bearer abc def', undefined],
  ])('%j is %j', (header, token) => {
    expect(bearerHeaderOf({ headers: header === undefined ? {} : { authorization: header } })).toBe(
      token,
    );
  });
});
