import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RegistryClientEntity } from './entities/registry-client.entity.js';
import { RegistryCertificateEntity } from './entities/registry-certificate.entity.js';
import { RegistryGroupEntity } from './entities/registry-group.entity.js';
import { RegistryKnownSubjectEntity } from './entities/registry-known-subject.entity.js';
import { RegistryMemberEntity } from './entities/registry-member.entity.js';
import { RegistrySetupEntity } from './entities/registry-setup.entity.js';
import { DrainsService } from './store/drains.service.js';
import { RegistryDepartureEntity } from './entities/registry-departure.entity.js';
import { RegistryDrainEntity } from './entities/registry-drain.entity.js';
import { RegistryShareEntity } from './entities/registry-share.entity.js';
import { RegistrySiteEntity } from './entities/registry-site.entity.js';
import { RegistryStateEntity } from './entities/registry-state.entity.js';
import { RegistryStorageElementEntity } from './entities/registry-storage-element.entity.js';
import { RegistrySubjectEntity } from './entities/registry-subject.entity.js';
import { RegistryUserEntity } from './entities/registry-user.entity.js';
import { ClientsRepository } from './store/clients.repository.js';
import { RegistryLoader } from './file/registry-loader.service.js';
import { RegistryRepository } from './store/registry.repository.js';
import { RegistryService } from './store/registry.service.js';

const ENTITIES = [
  RegistryStateEntity,
  RegistryUserEntity,
  RegistryKnownSubjectEntity,
  RegistryCertificateEntity,
  RegistrySubjectEntity,
  RegistryGroupEntity,
  RegistryMemberEntity,
  RegistrySetupEntity,
  RegistryClientEntity,
  RegistryStorageElementEntity,
  RegistrySiteEntity,
  RegistryShareEntity,
  RegistryDrainEntity,
  RegistryDepartureEntity,
];

/** Who exists: users, groups, setups, applications, storage elements, sites, and the shares of groups. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature(ENTITIES)],
  providers: [
    RegistryRepository,
    ClientsRepository,
    RegistryService,
    RegistryLoader,
    DrainsService,
  ],
  exports: [RegistryService, RegistryLoader, DrainsService, ClientsRepository],
})
export class RegistryModule {}
