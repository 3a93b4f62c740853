export { authEntities, AuthModule } from './auth.module.js';
export {
  Access,
  CurrentPrincipal,
  principalOf,
  requestOf,
  type AccessRule,
} from './access/access.decorator.js';
export { actorOf, borderOf, type Principal, type Property } from './bearer/principal.js';
export { SCOPES, type Scope } from './protocol/scopes.js';
export { SCOPE_TEXT } from './sign-in/pages/consent-form.js';
export { KeysService, type KeyReport } from './keys/keys.service.js';
export {
  ClientsService,
  type ClientReport,
  type NewClient,
  type RegisteredClient,
} from './clients/clients.service.js';
