import { ConfigurationError, MissingCodeError, type OAuthError } from './oauth-error.js';
import {
  addParameters,
  codeFromAnswer,
  parseForm,
  queryOf,
  scopeText,
  type ExpectedAnswer,
  type ParameterValue,
} from './parameters.js';
import { splitCall, type FetchTokenOptions, type SplitCall } from './session-options.js';

/** What a token request reads of its session. */
export interface GrantDefaults {
  scope: string | readonly string[] | null;
  redirect_uri: string | null;
  state: string | null;
  metadata: Readonly<Record<string, unknown>>;
  legacyFlows: boolean;
  errorClass: typeof OAuthError;
}

/** A token request ready to be sent. */
export interface GrantRequest extends SplitCall {
  grantType: string;
  form: URLSearchParams;
}

function issuerOf(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { issuer } = metadata;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** What an authorization answer must fit: the state of call or session, the issuer of the metadata. */
export function expectedAnswer(
  defaults: GrantDefaults,
  state: string | null | undefined,
): ExpectedAnswer {
  return {
    state: state ?? defaults.state,
    issuer: issuerOf(defaults.metadata),
    issuerRequired: defaults.metadata['authorization_response_iss_parameter_supported'] === true,
    errorClass: defaults.errorClass,
  };
}

/**
 * The grant of a call: said by the call, or by the metadata, or plain from a code. Never guessed: a failed login
 * must not become a login of the client itself.
 */
function grantTypeOf(options: FetchTokenOptions, defaults: GrantDefaults, code: unknown): string {
  const configured = defaults.metadata['grant_type'];
  const said = options.grant_type ?? (code ? 'authorization_code' : configured);
  if (typeof said !== 'string' || said === '') {
    throw new ConfigurationError('grant_type is required: it is never guessed');
  }
  return said;
}

/**
 * The form of fetch_token. Order of the checks: the authorization answer (duplicates, error, state, iss, code),
 * the grant, its permission. Session scope is added for all grants but the code, redirect_uri for the code only.
 */
export function buildGrant(options: FetchTokenOptions, defaults: GrantDefaults): GrantRequest {
  const { http, fields } = splitCall(options, ['grant_type', 'authorization_response']);
  const { authorization_response: answer } = options;
  if (answer !== null && answer !== undefined) {
    fields['code'] = codeFromAnswer(queryOf(answer), expectedAnswer(defaults, options.state));
  }
  const grantType = grantTypeOf(options, defaults, fields['code']);
  if (grantType === 'password' && !defaults.legacyFlows) {
    // RFC 9700 §2.4
    throw new ConfigurationError('the password grant needs legacyFlows: true');
  }
  const isCode = grantType === 'authorization_code';
  if (isCode && !fields['code']) throw new MissingCodeError('there is no code to redeem');
  const form = parseForm(options.body);
  form.set('grant_type', grantType);
  const implied: Record<string, ParameterValue> = {};
  if (isCode && !('redirect_uri' in fields))
    implied['redirect_uri'] = defaults.redirect_uri || null;
  if (!isCode && !('scope' in fields)) implied['scope'] = scopeText(defaults.scope) ?? null;
  addParameters(form, { ...implied, ...fields });
  return { grantType, form, http, fields };
}
