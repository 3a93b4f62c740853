import { QueryValues } from '#src/platform/index.js';
import { AuthorizationError, only, UnprovedRequestError } from './authorization-request.js';

describe('a parameter of the authorization request', () => {
  it.each([
    ['', undefined],
    ['state=', undefined],
    ['state=a', 'a'],
    ['state=&state=a', 'a'],
    ['state=a&state=b', undefined],
    ['State=a', undefined],
  ])('in %s is %s', (search, value) => {
    expect(only(new QueryValues(search), 'state')).toBe(value);
  });
});

describe('faults of the authorization request', () => {
  it('say what they are', () => {
    const told = new AuthorizationError('invalid_scope', 'none is known');
    expect([told.name, told.message, told.error, told.description]).toEqual([
      'AuthorizationError',
      'invalid_scope: none is known',
      'invalid_scope',
      'none is known',
    ]);
    const untold = new UnprovedRequestError('who asks?');
    expect([untold.name, untold.message]).toEqual(['UnprovedRequestError', 'who asks?']);
  });
});
