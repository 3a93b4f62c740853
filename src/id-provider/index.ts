export * from './library.js';
export {
  IdProviderModule,
  idProviderToken,
  InjectIdProvider,
} from './module/id-provider.module.js';
export { IdProvidersService, type NamedIdProvider } from './module/id-providers.service.js';
export { IdProvidersFileError, parseIdProvidersFile } from './module/id-providers-file.js';
export { LoginSessionsRepository, type LoginBinding } from './module/login-sessions.repository.js';
export { StoredTokensRepository } from './module/stored-tokens.repository.js';
export { StoredTokens, type TokenKey } from './module/stored-tokens.service.js';
