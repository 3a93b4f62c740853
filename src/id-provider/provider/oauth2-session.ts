import {
  addParameters,
  callArguments,
  ConfigurationError,
  InvalidResponseError,
  MissingTokenError,
  OAuth2Client,
  parseForm,
  parseToken,
  scopeText,
  splitCall,
  type ExchangeTokenArguments,
  type ExchangeTokenOptions,
  type OAuth2Token,
} from '#src/oauth2-client/index.js';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

/** An OAuth2Client that can also exchange tokens (interface "What the service does" 5, RFC 8693). */
export class OAuth2Session extends OAuth2Client {
  /**
   * Exchanges a token for another (RFC 8693 §2): `subject_token` is required, its type is an access token unless
   * said otherwise; audience and resource may be lists; further keywords become form fields. The session's own token
   * stays. The token's `issued_token_type` is checked to be there; its `token_type` may be N_A. Throws
   * MissingTokenError, ConfigurationError, InvalidResponseError, HttpError or the server's error.
   */
  async exchange_token(...given: ExchangeTokenArguments): Promise<OAuth2Token> {
    const { url, options } = callArguments<ExchangeTokenOptions>('exchange_token', given);
    const { subject_token, subject_token_type, actor_token, actor_token_type } = options;
    if (!subject_token) throw new MissingTokenError('there is no subject_token');
    if (Boolean(actor_token) !== Boolean(actor_token_type)) {
      throw new ConfigurationError('actor_token and actor_token_type belong together');
    }
    const { fields } = splitCall(options, ['subject_token', 'subject_token_type', 'grant_type']);
    const form = parseForm(options.body);
    form.set('grant_type', TOKEN_EXCHANGE);
    form.set('subject_token', subject_token);
    form.set('subject_token_type', subject_token_type ?? ACCESS_TOKEN_TYPE);
    const implied = 'scope' in fields ? {} : { scope: scopeText(this.scope) ?? null };
    addParameters(form, { ...implied, ...fields });
    const answer = await this.postForm({
      endpoint: 'token_endpoint',
      url,
      form,
      options,
      requestHook: 'exchange_token_request',
      responseHook: 'exchange_token_response',
    });
    const token = parseToken(answer);
    if (typeof token['issued_token_type'] !== 'string') {
      throw new InvalidResponseError('the token endpoint answers no issued_token_type', {
        status: answer.response.status_code,
      });
    }
    return token;
  }
}
