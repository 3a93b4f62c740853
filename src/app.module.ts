import { fileURLToPath } from 'node:url';
import { Module, type DynamicModule } from '@nestjs/common';
import { AdministrationModule } from './administration/index.js';
import { AuthModule } from './auth/index.js';
import {
  CatalogueStorageRights,
  FileCatalogueModule,
  JobStorage,
  StorageModule,
} from './file-catalogue/index.js';
import { JobsModule } from './jobs/index.js';
import { InfrastructureModule, type Infrastructure } from './app/infrastructure.module.js';
import { registeredEntities, type EntityClass } from '#src/database/index.js';
import { RegistryModule } from './registry/index.js';
import { WebhooksModule } from './webhooks/index.js';
import { version } from './app/version.js';
import { OwnWorkerLauncher } from './worker/index.js';

/** The entities of all rooms: their modules, imported above, have registered them. */
export const entities: EntityClass[] = registeredEntities();

const OWN_WORKER = {
  script: fileURLToPath(new URL('./app/own-worker.process.js', import.meta.url)),
  version: version(),
};

/** The composition root: the feature modules on the platform, and how they meet. */
@Module({})
export class AppModule {
  static forRoot(platform: Infrastructure): DynamicModule {
    const hasRoutes = platform.config.role !== 'worker';
    const auth = AuthModule.forRoot({
      storageRights: { imports: [FileCatalogueModule], useExisting: CatalogueStorageRights },
    });
    const storage = StorageModule.forRoot({ auth });
    const jobs = JobsModule.forRoot({
      auth,
      hasRoutes,
      ownMachine: new OwnWorkerLauncher(platform.config, OWN_WORKER, platform.logger),
      inputData: { imports: [storage], useExisting: JobStorage },
    });
    return {
      module: AppModule,
      imports: [
        InfrastructureModule.forRoot(platform),
        RegistryModule,
        auth,
        FileCatalogueModule,
        storage,
        jobs,
        WebhooksModule.forRoot({ auth, jobs, hasRoutes }),
        AdministrationModule.forRoot({ auth, jobs, hasRoutes }),
      ],
    };
  }
}
