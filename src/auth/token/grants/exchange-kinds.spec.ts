import { OAuthProblem } from '#src/kernel/index.js';
import { OAuthParameters } from '../../protocol/oauth-parameters.js';
import { ACCESS_TOKEN, checkKinds } from './exchange-kinds.js';

const SERVICE = 'https://grid.example';
const TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

function check(sent: Record<string, string>): unknown {
  try {
    checkKinds(OAuthParameters.from(Object.entries(sent)), SERVICE);
    return 'taken';
  } catch (error) {
    if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
    throw error;
  }
}

const subject = { subject_token_type: TOKEN };
const notSubject = [400, 'invalid_request', 'subject_token_type must be an access token'];
const notRequested = [400, 'invalid_request', 'requested_token_type must be an access token'];
const elsewhere = [400, 'invalid_target', 'Tokens are given for this service only'];

describe('what a token exchange may ask for', () => {
  it('says what it gives by the name of RFC 8693', () => {
    expect(ACCESS_TOKEN).toBe(TOKEN);
  });

  it.each<[Record<string, string>, unknown]>([
    [subject, 'taken'],
    [{ subject_token_type: JWT }, 'taken'],
    [{ ...subject, requested_token_type: TOKEN, audience: SERVICE }, 'taken'],
    [{ ...subject, requested_token_type: JWT, resource: SERVICE }, 'taken'],
    [{}, [400, 'invalid_request', 'The parameter subject_token_type is missing']],
    [{ subject_token_type: ID_TOKEN }, notSubject],
    [{ ...subject, requested_token_type: ID_TOKEN }, notRequested],
    [{ ...subject, actor_token: 'x' }, [400, 'invalid_request', 'actor_token is not supported']],
    [{ ...subject, audience: 'https://other.example' }, elsewhere],
    [{ ...subject, resource: 'https://other.example' }, elsewhere],
    [{ ...subject, audience: 'https://other.example', resource: SERVICE }, elsewhere],
  ])('%j', (sent, expected) => {
    expect(check(sent)).toEqual(expected);
  });
});
