export { RegistryModule } from './registry.module.js';
export { RegistryService } from './registry.service.js';
export { RegistryLoader } from './registry-loader.service.js';
export { RegistrySnapshot } from './registry-snapshot.js';
export { ApplicationsRepository } from './applications.repository.js';
export { PROPERTIES, isProperty, type Property } from './property.js';
export { parseRegistryFile, writeRegistryFile, RegistryFileError } from './registry-file.js';
export {
  describeDifference,
  difference,
  type RegistryChange,
  type RegistryDifference,
} from './registry-difference.js';
export { isLoopbackHost, redirectUriFault } from './redirect-uri.js';
export { isSiteTag, SITE_TAG_FORM } from './site-tag.js';
export { DEMO_REGISTRY } from './demo-registry.js';
export type { RegistryFault } from './registry-rules.js';
export type {
  Application,
  ApplicationOrigin,
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
} from './registry.types.js';
