import { fileURLToPath } from 'node:url';
import { Module, type DynamicModule } from '@nestjs/common';
import { AdministrationModule } from './administration/index.js';
import { AuthModule } from './auth/index.js';
import {
  CatalogueStorageRights,
  FileCatalogueModule,
  NamespaceService,
  StorageModule,
} from './file-catalogue/index.js';
import { JobsModule, type InputDataCatalogue } from './jobs/index.js';
import { InfrastructureModule, type Infrastructure } from './app/infrastructure.module.js';
import { registeredEntities, type EntityClass } from '#src/database/index.js';
import { RegistryModule, RegistryService } from './registry/index.js';
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
    const jobs = JobsModule.forRoot({
      auth,
      hasRoutes,
      ownMachine: new OwnWorkerLauncher(platform.config, OWN_WORKER, platform.logger),
      inputData: {
        imports: [FileCatalogueModule, RegistryModule],
        inject: [NamespaceService, RegistryService],
        useFactory: inputDataOf,
      },
    });
    return {
      module: AppModule,
      imports: [
        InfrastructureModule.forRoot(platform),
        RegistryModule,
        auth,
        FileCatalogueModule,
        StorageModule.forRoot({ auth }),
        jobs,
        WebhooksModule.forRoot({ auth, jobs, hasRoutes }),
        AdministrationModule.forRoot({ auth, jobs, hasRoutes }),
      ],
    };
  }
}

/** The catalogue as jobs see it: their input files as those may see them who submitted the jobs. */
function inputDataOf(namespace: NamespaceService, registry: RegistryService): InputDataCatalogue {
  return {
    async files({ user, group }, paths) {
      const known = (await registry.current()).group(group);
      return namespace.inputFiles({ user, group, properties: new Set(), ...known }, paths);
    },
  };
}
