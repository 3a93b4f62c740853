/** The door of the room for everything that must work without Nest and without a database. */
export { OAuth2IdProvider, type LoginResult } from './oauth2-id-provider.js';
export { OAuthError } from '#src/oauth2-client/index.js';
export { OAuth2Session } from './oauth2-session.js';
export {
  claimParser,
  type ClaimAttributes,
  type ClaimGroups,
  type ParsedClaims,
} from './claim-parser.js';
export {
  DEFAULT_METADATA,
  EXTRA_AUTHORIZE_PARAMS,
  JWKS_REFRESH_RATE,
  METADATA_REFRESH_RATE,
  SESSION_REQUEST_PARAMS,
} from './constants.js';
export type { ProviderParameters } from './provider-settings.js';
export type {
  GroupLookup,
  GroupOptions,
  GroupTable,
  ProviderType,
  VoTable,
} from './group-scopes.js';
export {
  LOGIN_SESSION_SECONDS,
  MemoryLoginSessions,
  type LoginSessionRecord,
  type LoginSessionStore,
} from './login-sessions.js';
export type { BrowserSession, CallbackRequest } from './authorization-code-flow.js';
export type {
  DeviceAuthorization,
  DeviceLoginOptions,
  DeviceWaitOptions,
} from './device-code-flow.js';
export type { JsonWebKeySet } from './key-set.js';
export type { TokenBinding, TokenClaims } from './token-verifier.js';
export type { UserProfile } from './user-claims.js';
export { parseEntitlement, type Entitlement } from './entitlement.js';
export { providerOfToken, type RoutableProvider } from './token-routing.js';
