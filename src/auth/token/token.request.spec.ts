import { OAuthProblem } from '#src/kernel/index.js';
import { QueryValues, readValues } from '#src/http/index.js';
import {
  AuthorizationCodeForm,
  ClientCredentialsForm,
  DeviceCodeForm,
  MalformedGrantError,
  RefreshTokenForm,
  TokenExchangeForm,
} from './grants/grant.request.js';
import { TokenForm, TokenQuery } from './token.request.js';

const TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

function formOf(text: string): object {
  return readValues(TokenForm, new QueryValues(text));
}

/** Status, error, text and, where the grant type is known, that; of a request that is refused. */
function refusal(text: string): unknown {
  try {
    formOf(text);
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    const grantType = error instanceof MalformedGrantError ? [error.grantType] : [];
    return [error.status, error.error, error.detail, ...grantType];
  }
  return 'taken';
}

const fault = (text: string, ...grantType: string[]) => [
  400,
  'invalid_request',
  text,
  ...grantType,
];
const missing = (name: string, ...grantType: string[]) =>
  fault(`The parameter ${name} is missing`, ...grantType);
const twice = fault('The parameter a is given more than once');

describe('a request at the token endpoint', () => {
  const client = { client_id: 'c', client_secret: 's' };

  it.each<[string, new () => object, Record<string, string>]>([
    ['client_credentials', ClientCredentialsForm, { group: 'g', setup: 's', scope: 'a b' }],
    [
      'authorization_code',
      AuthorizationCodeForm,
      { ...client, code: 'c', redirect_uri: 'u', code_verifier: 'v', scope: 'a b' },
    ],
    ['refresh_token', RefreshTokenForm, { ...client, refresh_token: 'r', scope: 'a b' }],
    [DEVICE, DeviceCodeForm, { ...client, device_code: 'd' }],
    [
      EXCHANGE,
      TokenExchangeForm,
      {
        ...{ ...client, subject_token: 't', subject_token_type: TOKEN, group: 'g', setup: 's' },
        ...{ requested_token_type: JWT, scope: 'a b' },
      },
    ],
  ])('of %s is its class, without what others know', (grantType, formClass, sent) => {
    const query = { grant_type: grantType, ...sent };
    for (const requestClass of [TokenForm, TokenQuery]) {
      const text = new URLSearchParams({ ...query, further: 'f' }).toString();
      const services = 'audience=a&audience=b&resource=urn:r';
      const form = readValues<object>(requestClass, new QueryValues(`${text}&${services}`));
      expect(form).toBeInstanceOf(formClass);
      expect({ ...form }).toEqual({ ...query, audience: ['a', 'b'], resource: ['urn:r'] });
    }
  });

  it('of an unknown grant type says who asks only', () => {
    expect({ ...formOf('grant_type=password&client_id=c&group=g') }).toEqual({
      grant_type: 'password',
      client_id: 'c',
    });
  });

  it('counts empty parameters as absent', () => {
    expect({ ...formOf(`grant_type=${DEVICE}&device_code=d&client_id=`) }).toEqual({
      grant_type: DEVICE,
      device_code: 'd',
    });
  });

  it.each<[string, unknown]>([
    ['', missing('grant_type')],
    ['grant_type=', missing('grant_type')],
    ['grant_type=authorization_code&client_id=c', missing('code', 'authorization_code')],
    ['grant_type=refresh_token&client_id=c', missing('refresh_token', 'refresh_token')],
    [`grant_type=${DEVICE}&client_id=c`, missing('device_code', DEVICE)],
    [`grant_type=${EXCHANGE}&client_id=c`, missing('subject_token', EXCHANGE)],
    ['a=1&a=1', twice],
    ['grant_type=client_credentials&a=1&a=2', twice],
    ['a=&a=', twice],
    ['grant_type=b&grant_type=b', fault('The parameter grant_type is given more than once')],
  ])('%s is refused', (text, expected) => {
    expect(refusal(text)).toEqual(expected);
  });
});

describe('what a token exchange may ask for', () => {
  const start = `grant_type=${EXCHANGE}&subject_token=t`;
  const subject = `${start}&subject_token_type=${TOKEN}`;

  it.each<[string, unknown]>([
    [subject, 'taken'],
    [`${start}&subject_token_type=${JWT}`, 'taken'],
    [`${subject}&requested_token_type=${TOKEN}`, 'taken'],
    [`${subject}&requested_token_type=${JWT}`, 'taken'],
    [start, missing('subject_token_type', EXCHANGE)],
    [
      `${start}&subject_token_type=${ID_TOKEN}`,
      fault('subject_token_type must be an access token', EXCHANGE),
    ],
    [
      `${subject}&requested_token_type=${ID_TOKEN}`,
      fault('requested_token_type must be an access token', EXCHANGE),
    ],
    [`${subject}&actor_token=x`, fault('actor_token is not supported', EXCHANGE)],
  ])('%s', (text, expected) => {
    expect(refusal(text)).toEqual(expected);
  });
});
