import { Global, Module } from '@nestjs/common';
import { ApplicationsRepository } from './store/applications.repository.js';
import { RegistryLoader } from './file/registry-loader.service.js';
import { RegistryRepository } from './store/registry.repository.js';
import { RegistryService } from './store/registry.service.js';

/** Who exists: users, groups, setups, applications, storage elements and sites. */
@Global()
@Module({
  providers: [RegistryRepository, ApplicationsRepository, RegistryService, RegistryLoader],
  exports: [RegistryService, RegistryLoader, ApplicationsRepository],
})
export class RegistryModule {}
