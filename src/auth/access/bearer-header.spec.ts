import { bearerHeaderOf, bearerProblem } from './bearer-header.js';

describe('a refusal of a token', () => {
  it('names the scope that is needed', () => {
    const { status, code, detail, headers } = bearerProblem(
      'insufficient_scope',
      'This needs the scope jobs:kill',
      'jobs:kill',
    );
    expect([status, code, detail, headers]).toEqual([
      ...[403, 'auth.insufficient-scope', 'This needs the scope jobs:kill'],
      {
        'WWW-Authenticate':
          'Bearer realm="gridgate", error="insufficient_scope", ' +
          'error_description="This needs the scope jobs:kill", scope="jobs:kill"',
      },
    ]);
  });
});

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
