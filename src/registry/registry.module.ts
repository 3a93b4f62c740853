import { Global, Module } from '@nestjs/common';
import { ApplicationsRepository } from './applications.repository.js';
import { RegistryLoader } from './registry-loader.service.js';
import { RegistryRepository } from './registry.repository.js';
import { RegistryService } from './registry.service.js';

/** Who exists: users, groups, setups, applications, storage elements and sites. */
@Global()
@Module({
  providers: [RegistryRepository, ApplicationsRepository, RegistryService, RegistryLoader],
  exports: [RegistryService, RegistryLoader, ApplicationsRepository],
})
export class RegistryModule {}
