export * from './library.js';
export { IdProviderModule, InjectIdProvider } from './module/id-provider.module.js';
export { IdProvidersService, type NamedIdProvider } from './module/id-providers.service.js';
export { LoginSessionsRepository } from './module/login-sessions.repository.js';
export { StoredTokensRepository } from './module/stored-tokens.repository.js';
export { StoredTokens } from './module/stored-tokens.service.js';
