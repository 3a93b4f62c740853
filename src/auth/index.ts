export {
  Access,
  CurrentPrincipal,
  principalOf,
  type AccessRule,
} from './access/access.decorator.js';
export { SCOPES, type Principal, type Property, type Scope } from './principal.js';
