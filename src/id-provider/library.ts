/** The door of the room for everything that must work without Nest and without a database. */
export { OAuth2IdProvider, type LoginResult } from './provider/oauth2-id-provider.js';
export { OAuthError } from '#src/oauth2-client/index.js';
export { OAuth2Session } from './provider/oauth2-session.js';
export {
  claimParser,
  type ClaimAttributes,
  type ClaimGroups,
  type ParsedClaims,
} from './claims/claim-parser.js';
export {
  DEFAULT_METADATA,
  EXTRA_AUTHORIZE_PARAMS,
  JWKS_REFRESH_RATE,
  METADATA_REFRESH_RATE,
  SESSION_REQUEST_PARAMS,
} from './verify/constants.js';
export type { ProviderParameters } from './provider/provider-settings.js';
export type {
  GroupLookup,
  GroupOptions,
  GroupTable,
  ProviderType,
  VoTable,
} from './provider/group-scopes.js';
export {
  LOGIN_SESSION_SECONDS,
  MemoryLoginSessions,
  type LoginSessionRecord,
  type LoginSessionStore,
} from './flows/login-sessions.js';
export type { BrowserSession, CallbackRequest } from './flows/authorization-code-flow.js';
export type {
  DeviceAuthorization,
  DeviceLoginOptions,
  DeviceWaitOptions,
} from './flows/device-code-flow.js';
export type { JsonWebKeySet } from './verify/key-set.js';
export type { TokenBinding, TokenClaims } from './verify/token-verifier.js';
export type { UserProfile } from './provider/user-claims.js';
export { parseEntitlement, type Entitlement } from './provider/entitlement.js';
export { providerOfToken, type RoutableProvider } from './verify/token-routing.js';
