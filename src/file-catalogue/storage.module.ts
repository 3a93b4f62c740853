import { Module, type DynamicModule } from '@nestjs/common';
import { RegistryModule } from '#src/registry/index.js';
import { FileCatalogueModule } from './file-catalogue.module.js';
import { AccessController } from './storage/access.controller.js';
import { ContentController } from './storage/content.controller.js';
import { StorageContent } from './storage/content.service.js';
import { JobStorage } from './storage/job-storage.service.js';
import { S3Addresses } from './storage/s3-addresses.js';
import { StorageElements } from './storage/storage-elements.js';
import { StorageAccess } from './storage/storage-access.service.js';

/** The bytes of the catalogue's files. Apart from the catalogue, which the authorization server needs: this one needs its tokens. */
@Module({})
export class StorageModule {
  static forRoot({ auth }: { auth: DynamicModule }): DynamicModule {
    return {
      module: StorageModule,
      imports: [auth, FileCatalogueModule, RegistryModule],
      controllers: [AccessController, ContentController],
      providers: [StorageAccess, StorageContent, StorageElements, S3Addresses, JobStorage],
      exports: [JobStorage],
    };
  }
}
