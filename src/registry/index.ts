export { RegistryModule } from './registry.module.js';
export { RegistryService } from './store/registry.service.js';
export { DrainFault, DrainsService, type SiteState } from './store/drains.service.js';
export { ChangeFault, type ChangeReason } from './model/change-fault.js';
export { keepAdministrator, withAdministrator } from './model/administrators.js';
export { withMember, withoutMember, withDisabled, withoutUser } from './model/membership.js';
export { withChangedEntry, withEntry, withoutGroup, withoutSite } from './file/registry-entries.js';
export { RegistryLoader } from './file/registry-loader.service.js';
export { RegistrySnapshot } from './store/registry-snapshot.js';
export { ClientsRepository } from './store/clients.repository.js';
export { PROPERTIES, type Property } from './model/property.js';
export { BATCH_BACKENDS, SITE_BACKENDS } from './model/registry.types.js';
export { groupsBesideVos, hasSeveralVos, runsJobsOf, type JobOrigin } from './model/vo-borders.js';
export { readEntry, RegistryFileError } from './file/registry-file.js';
export * as yamlFile from './file/yaml-file.js';
export { writeRegistryFile } from './file/registry-writing.js';
export { describeDifference } from './model/registry-difference.js';
export { isLoopbackHost, redirectUriFault } from './model/redirect-uri.js';
export { AUDIENCE_FORM, isAudience } from './model/audience.js';
export { isSiteTag, SITE_TAG_FORM } from './model/site-tag.js';
export type { JobLimits } from './model/limits.js';
export { DEMO_REGISTRY } from './model/demo-registry.js';
export { APPLICATION_PREFIX, STORAGE_CLIENT } from './model/registry-rules.js';
export { canonicalDn } from '#src/x509/index.js';
export { clientFaults } from './model/client-rules.js';
export { certificateOf, keysOf, signatureKeysOf } from './model/client-keys.js';
export {
  CLIENT_PROFILES,
  ID_TOKEN_ALGORITHMS,
  KEY_AUTHENTICATIONS,
  type ClientProfile,
  type KeyAuthentication,
} from './model/registry.types.js';
export {
  addressOf,
  audienceOf,
  hasAddress,
  removesBytes,
  holds,
  pathAt,
  takesFilesOf,
  type AddressedElement,
  type StorageElement,
} from './model/storage-element.js';
export { isSameOrWithin, type SiteConnection } from './model/site-connection.js';
export type {
  Client,
  Group,
  RegistryContents,
  Setup,
  Site,
  SiteBackend,
  User,
} from './model/registry.types.js';
