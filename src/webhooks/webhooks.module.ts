import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FileCatalogueModule } from '#src/file-catalogue/index.js';
import { RegistryModule } from '#src/registry/index.js';
import { Attempts } from './delivery/attempt.service.js';
import { Collector } from './delivery/collector.js';
import { DueAttempts } from './delivery/due-attempts.js';
import { Deliverer } from './delivery/deliverer.js';
import { WebhookRetention } from './delivery/retention.js';
import { WebhookOwners } from './delivery/webhook-owners.js';
import { Withdrawals } from './delivery/withdrawals.js';
import { WebhookAccess } from './management/webhook-access.js';
import { WebhookDeliveries } from './management/webhook-deliveries.service.js';
import { WebhooksController } from './management/webhooks.controller.js';
import { WebhooksService } from './management/webhooks.service.js';
import { CatalogueSource } from './sources/catalogue.source.js';
import { JobSource } from './sources/job.source.js';
import { WEBHOOK_SOURCES, type WebhookSource } from './sources/webhook-source.js';
import { DeliveriesRepository } from './store/deliveries.repository.js';
import { DeliveryEntity } from './store/delivery.entity.js';
import { WebhookSecrets } from './store/webhook-secrets.js';
import { WebhookEntity } from './store/webhook.entity.js';
import { WebhooksRepository } from './store/webhooks.repository.js';
import { HostsFile } from './target/hosts-file.js';
import { Sender } from './target/sender.js';
import { TargetResolver } from './target/target-resolver.js';

const PARTS = [
  WebhookAccess,
  WebhooksService,
  WebhookDeliveries,
  WebhooksRepository,
  DeliveriesRepository,
  WebhookSecrets,
  WebhookOwners,
  WebhookRetention,
  Withdrawals,
  Attempts,
  Collector,
  DueAttempts,
  Deliverer,
  Sender,
  TargetResolver,
  { provide: HostsFile, useFactory: () => new HostsFile() },
  JobSource,
  CatalogueSource,
  {
    provide: WEBHOOK_SOURCES,
    inject: [JobSource, CatalogueSource],
    useFactory: (...sources: WebhookSource[]) => sources,
  },
];

/** What webhooks need of others. */
interface WebhooksModuleInput {
  /** Where consents are withdrawn. */
  auth: DynamicModule;
  jobs: DynamicModule;
  hasRoutes: boolean;
}

/** Webhooks: whoever may read changes can have them sent to a receiver, signed, in order and at least once. */
@Module({})
export class WebhooksModule {
  /** `auth` and `jobs` are those of this application. */
  static forRoot({ auth, jobs, hasRoutes }: WebhooksModuleInput): DynamicModule {
    return {
      module: WebhooksModule,
      imports: [
        RegistryModule,
        auth,
        jobs,
        FileCatalogueModule,
        TypeOrmModule.forFeature([WebhookEntity, DeliveryEntity]),
      ],
      controllers: hasRoutes ? [WebhooksController] : [],
      providers: PARTS,
    };
  }
}
