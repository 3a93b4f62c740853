import { QueryValues, readValues } from '#src/http/index.js';
import { AuthorizationError } from './authorization-error.js';
import { UnprovedRequestError } from './authorization-request.js';
import { AuthorizationTarget } from './authorize.request.js';

describe('what is looked at first of an authorization request', () => {
  it.each<[string, object]>([
    ['', {}],
    ['client_id=&redirect_uri=&state=', { state: '' }],
    ['client_id=a&redirect_uri=u&state=s', { client_id: 'a', redirect_uri: ['u'], state: 's' }],
    [
      'client_id=&client_id=a&redirect_uri=&redirect_uri=u',
      { client_id: 'a', redirect_uri: ['u'] },
    ],
    ['client_id=a&client_id=b&state=a&state=b', {}],
    ['redirect_uri=u&redirect_uri=v', { redirect_uri: ['u', 'v'] }],
    ['Client_id=a&scope=s&scope=s', {}],
  ])('of %s', (search, expected) => {
    const target = readValues(AuthorizationTarget, new QueryValues(search));
    expect({ ...target }).toEqual({ redirect_uri: [], ...expected });
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
    expect([untold.name, untold.message]).toEqual([
      'UnprovedRequestError',
      'who asks? Nothing was sent to anybody; tell the people who run the application.',
    ]);
  });
});
