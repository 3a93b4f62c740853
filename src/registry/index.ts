export { RegistryModule } from './registry.module.js';
export { RegistryService } from './store/registry.service.js';
export { RegistryLoader } from './file/registry-loader.service.js';
export { RegistrySnapshot } from './store/registry-snapshot.js';
export { ClientsRepository } from './store/clients.repository.js';
export { PROPERTIES, isProperty, type Property } from './model/property.js';
export { parseRegistryFile, writeRegistryFile, RegistryFileError } from './file/registry-file.js';
export {
  describeDifference,
  difference,
  type RegistryChange,
  type RegistryDifference,
} from './model/registry-difference.js';
export { isLoopbackHost, redirectUriFault } from './model/redirect-uri.js';
export { isSiteTag, SITE_TAG_FORM } from './model/site-tag.js';
export { DEMO_REGISTRY } from './model/demo-registry.js';
export type { RegistryFault } from './model/registry-rules.js';
export type {
  Client,
  ClientOrigin,
  Group,
  RegistryContents,
  RegistrySection,
  Setup,
  Site,
  SiteBackend,
  SiteNetwork,
  StorageElement,
  Subject,
  User,
  UserCertificate,
} from './model/registry.types.js';
