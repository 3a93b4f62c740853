export {
  OAuth2Client,
  type EndpointName,
  type FormCall,
  type Introspection,
} from './oauth2-client-session.js';
export {
  callArguments,
  type AuthorizationUrlArguments,
  type ExchangeTokenArguments,
  type FetchTokenArguments,
  type RefreshTokenArguments,
  type TokenStatusArguments,
} from './call-arguments.js';
export { OAuth2SessionBase, defaultAuthMethod } from './session-base.js';
export {
  EXTRA_AUTHORIZE_PARAMS,
  SESSION_REQUEST_PARAMS,
  metadataOf,
  splitCall,
  type AuthorizationUrlOptions,
  type ExchangeTokenOptions,
  type FetchTokenOptions,
  type OAuth2ClientOptions,
  type OAuth2RequestOptions,
  type PreviousToken,
  type RefreshTokenOptions,
  type TokenCallOptions,
  type TokenStatusOptions,
  type UpdateToken,
} from './session-options.js';
export {
  OAuth2Token,
  DEFAULT_LEEWAY,
  type TokenFields,
  type TokenOptions,
} from './oauth2-token.js';
export {
  OAuthError,
  MissingTokenError,
  InvalidTokenError,
  UnsupportedTokenTypeError,
  MismatchingStateError,
  MissingCodeError,
  InsecureTransportError,
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  type OAuthErrorDetails,
} from './oauth-error.js';
export { requireFitting } from './required.js';
export {
  ClientAuth,
  type AuthenticatingClient,
  type ClientAuthChoice,
  type ClientAuthFunction,
  type ClientAuthMethod,
  type RequestSignerChoice,
} from './client-auth.js';
export {
  ClientSecretJWT,
  PrivateKeyJWT,
  type JwtAssertionOptions,
  type PrivateKeyInput,
  type PrivateKeyJwtOptions,
} from './jwt-assertion.js';
export {
  TokenAuth,
  TOKEN_PLACEMENTS,
  type TokenBearer,
  type TokenPlacement,
} from './token-auth.js';
export {
  ComplianceHooks,
  HOOK_TYPES,
  type HookHeaders,
  type HookRequest,
  type HookType,
  type ComplianceRequestHook,
  type RequestHookType,
  type ComplianceResponseHook,
  type ResponseHookType,
} from './compliance-hooks.js';
export { DpopProver, type DpopChoice } from './dpop.js';
export { SingleFlight } from './single-flight.js';
export { requireSecureUrl } from './endpoint.js';
export {
  addParameters,
  checkIssuer,
  checkState,
  codeFromAnswer,
  parseForm,
  queryOf,
  refuseDuplicates,
  raiseAnswerError,
  scopeText,
  type ExpectedAnswer,
  type Parameters,
  type ParameterValue,
} from './parameters.js';
export { createCodeVerifier, codeChallengeS256, randomAlphanumeric } from './pkce.js';
export {
  parseObject,
  parseToken,
  retryAfterSeconds,
  type ProtocolAnswer,
} from './token-response.js';
export { type HttpCallOptions, type ProtocolCall } from './protocol-call.js';
