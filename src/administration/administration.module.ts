import { Module, type DynamicModule } from '@nestjs/common';
import { AuditSearchController } from './audit/audit-search.controller.js';
import { AuditSearchService } from './audit/audit-search.service.js';

/** What administrators of the service see over the network. */
@Module({})
export class AdministrationModule {
  static forRoot({ auth, hasRoutes }: { auth: DynamicModule; hasRoutes: boolean }): DynamicModule {
    return {
      module: AdministrationModule,
      imports: [auth],
      controllers: hasRoutes ? [AuditSearchController] : [],
      providers: [AuditSearchService],
    };
  }
}
