export { AuthModule } from './auth.module.js';
export { AUTH_SCHEMAS } from './inspect/inspect.openapi.js';
export {
  Access,
  CurrentPrincipal,
  principalNow,
  requestOf,
  workerIdOf,
} from './access/access.decorator.js';
export {
  actorOf,
  applicationPrincipal,
  borderOf,
  principalFrom,
  type Principal,
  type Property,
} from './bearer/principal.js';
export { leadsTo, opensPath, requireFiles, requirePath } from './access/require-path.js';
export { scopeMissing } from './protocol/challenges.js';
export { Delegations, type Delegation } from './bearer/delegations.js';
export { plainInScopes, StorageTokens } from './bearer/storage-tokens.js';
export type { StorageRights, StorageWish } from './bearer/storage-rights.js';
export { TokenHolders } from './possession/token-holders.js';
export { WorkerTokens } from './possession/worker-tokens.js';
export { RateLimits } from './protocol/rate-limits.js';
export { SCOPES } from './protocol/scopes.js';
export { SCOPE_TEXT } from './sign-in/pages/scope-text.js';
export { DEMO_COOKIE } from './sign-in/demo/demo-sign-in.js';
export { demandsPkce } from './protocol/client-profile.js';
export { AllKeysService, type NamedKeyReport } from './keys/all-keys.service.js';
export { KeysService } from './keys/keys.service.js';
export { ConsentsService, type Withdrawal } from './stores/consents.service.js';
export { ClientsService, type ClientReport, type NewClient } from './clients/clients.service.js';
