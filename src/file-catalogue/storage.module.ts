import { Module, type DynamicModule } from '@nestjs/common';
import { RegistryModule } from '#src/registry/index.js';
import { FileCatalogueModule } from './file-catalogue.module.js';
import { AccessController } from './storage/access.controller.js';
import { ContentController } from './storage/content.controller.js';
import { StorageContent } from './storage/content.service.js';
import { JobOutputs } from './storage/job-outputs.service.js';
import { OutputElements } from './storage/output-elements.service.js';
import { OutputPlaces } from './storage/output-places.service.js';
import { JobStorage } from './storage/job-storage.service.js';
import { ArrivedFiles } from './storage/arrived-files.service.js';
import { RegistrationController } from './storage/registration.controller.js';
import { StorageMetrics } from './storage/storage-metrics.js';
import { RemovalQueue } from './storage/removal-queue.service.js';
import { StorageRemovals } from './storage/storage-removals.service.js';
import { S3Addresses } from './storage/s3-addresses.js';
import { StorageElements } from './storage/storage-elements.js';
import { StorageKeys } from './storage/storage-keys.js';
import { StorageUploads } from './storage/storage-uploads.service.js';
import { StorageAccess } from './storage/storage-access.service.js';

/** The bytes of the catalogue's files. Apart from the catalogue, which the authorization server needs: this one needs its tokens. */
@Module({})
export class StorageModule {
  static forRoot({ auth }: { auth: DynamicModule }): DynamicModule {
    return {
      module: StorageModule,
      imports: [auth, FileCatalogueModule, RegistryModule],
      controllers: [AccessController, ContentController, RegistrationController],
      providers: [
        StorageAccess,
        StorageContent,
        StorageUploads,
        ArrivedFiles,
        StorageRemovals,
        RemovalQueue,
        StorageMetrics,
        StorageKeys,
        StorageElements,
        S3Addresses,
        JobStorage,
        JobOutputs,
        OutputElements,
        OutputPlaces,
      ],
      exports: [JobStorage, RemovalQueue, StorageElements],
    };
  }
}
