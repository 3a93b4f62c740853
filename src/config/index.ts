export {
  type DatabaseAddress,
  type DatabaseConnection,
  type DatabaseTls,
  parseDatabaseUrl,
} from './database-url.js';
export {
  CONFIG,
  type Config,
  ConfigurationFault,
  VARIABLES,
  configuredDatabase,
  openSettings,
  readConfig,
} from './env.js';
export { checkBy, type FaultTexts, type Misfit, type Schema } from './schema.js';
export { openVault } from './key-encryption-key.js';
export { KeyVault } from './key-vault.js';
