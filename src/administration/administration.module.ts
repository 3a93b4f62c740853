import { Module, type DynamicModule } from '@nestjs/common';
import { RegistryModule } from '#src/registry/index.js';
import { AdministrationAccessController } from './access/administration-access.controller.js';
import { AdministeredApplicationsController } from './applications/administered-applications.controller.js';
import { AdministeredApplications } from './applications/applications.service.js';
import { AuditSearchController } from './audit/audit-search.controller.js';
import { AuditSearchService } from './audit/audit-search.service.js';
import { SigningKeysController } from './keys/signing-keys.controller.js';
import { AdministeredGroupsController } from './members/groups.controller.js';
import { MembersService } from './members/members.service.js';
import { UsersController } from './members/users.controller.js';
import { RegistryChanges } from './registry/registry-changes.js';
import { SiteReports } from './sites/site-reports.js';
import { SitesController } from './sites/sites.controller.js';
import { SitesService } from './sites/sites.service.js';
import { AdministeredWorkersController } from './workers/administered-workers.controller.js';
import { WorkerPages } from './workers/worker-pages.js';

const CONTROLLERS = [
  AdministrationAccessController,
  UsersController,
  AdministeredGroupsController,
  AdministeredApplicationsController,
  SigningKeysController,
  SitesController,
  AdministeredWorkersController,
  AuditSearchController,
];

/** What administration needs of others. */
interface AdministrationModuleInput {
  /** Where applications and keys are. */
  auth: DynamicModule;
  /** Who knows which places can be used. */
  jobs: DynamicModule;
  hasRoutes: boolean;
}

/** Administration over HTTPS: users, groups, applications, signing keys, sites and workers, for tokens with the scope `admin`. */
@Module({})
export class AdministrationModule {
  /** `auth` and `jobs` are those of this application. */
  static forRoot({ auth, jobs, hasRoutes }: AdministrationModuleInput): DynamicModule {
    return {
      module: AdministrationModule,
      imports: [RegistryModule, auth, jobs],
      controllers: hasRoutes ? CONTROLLERS : [],
      providers: [
        RegistryChanges,
        MembersService,
        AdministeredApplications,
        SiteReports,
        SitesService,
        WorkerPages,
        AuditSearchService,
      ],
    };
  }
}
