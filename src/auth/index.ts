export { AuthModule } from './auth.module.js';
export {
  Access,
  CurrentPrincipal,
  principalOf,
  requestOf,
  type AccessRule,
} from './access/access.decorator.js';
export {
  actorOf,
  borderOf,
  SCOPES,
  type Principal,
  type Property,
  type Scope,
} from './principal.js';
export { SCOPE_TEXT } from './pages/consent-form.js';
export { KeysService, type KeyReport } from './keys/keys.service.js';
export {
  ClientsService,
  type ClientReport,
  type NewClient,
  type RegisteredClient,
} from './clients/clients.service.js';
export { authEntities } from './auth.entities.js';
