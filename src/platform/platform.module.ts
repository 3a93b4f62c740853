import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { CLOCK, systemClock } from '#src/kernel/index.js';
import { TrustedAuthorities } from '#src/x509/index.js';
import { CONFIG, type Config } from './config/env.js';
import { ChangeFeed } from './database/change-feed.js';
import { Database } from './database/database.js';
import { HealthController } from './probes/health.controller.js';
import { Readiness } from './observe/health/readiness.js';
import { LOGGER, type Logger } from './observe/logging/logger.js';
import { Metrics } from './observe/metrics/metrics.js';
import { Admission } from './http/admission.js';
import { RequestPipe } from './http/request.pipe.js';
import { PeerCertificates } from './http/peer-certificates.js';
import { ProblemFilter } from './http/problem.filter.js';
import { resourceMetadataUrl } from './http/resource-metadata.js';
import { RouteTable } from './http/route-table.js';
import { Audit } from './observe/audit/audit.js';
import { EventLog } from './feed/event-log.js';
import { EventLogModule } from './feed/event-log.module.js';
import { EventLogRepository } from './feed/event-log.repository.js';
import { FeedAnswers } from './streams/feed-answers.js';
import { Streams } from './streams/streams.js';
import { AuditEventsRepository } from './trail/audit-events.repository.js';
import { AuditKeeper } from './trail/audit-keeper.js';
import { AuditTrailModule } from './trail/audit-trail.module.js';
import type { AuditWriter } from './trail/audit-writer.js';
import { DiskPlaces } from './home/disk-places.js';
import { ExpiredRows } from './schedule/expired-rows.js';
import { Scheduler } from './schedule/scheduler.js';
import { Tracing } from './observe/tracing/tracing.js';
import { MetricsController } from './probes/metrics.controller.js';

/** What the process has opened before the application is made. */
export interface PlatformInput {
  config: Config;
  logger: Logger;
  dataSource: DataSource;
  database: Database;
  changeFeed: ChangeFeed;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
  audit: Audit;
  auditWriter: AuditWriter;
  authorities: TrustedAuthorities;
}

/**
 * Gives every room its infrastructure by injection. The data source is the process's, which opens and closes it; rooms make
 * repositories on it by `TypeOrmModule.forFeature`.
 */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(input: PlatformInput): DynamicModule {
    const providers: Provider[] = [
      ...openedParts(input),
      RouteTable,
      {
        provide: ProblemFilter,
        useFactory: (routes: RouteTable) =>
          new ProblemFilter(input.logger, routes, resourceMetadataUrl(input.config.publicUrl)),
        inject: [RouteTable],
      },
      PeerCertificates,
      Admission,
      Streams,
      FeedAnswers,
      Scheduler,
      {
        provide: ExpiredRows,
        useFactory: (scheduler: Scheduler) =>
          new ExpiredRows(scheduler, input.database, systemClock),
        inject: [Scheduler],
      },
      {
        provide: EventLog,
        useFactory: (scheduler: Scheduler, repository: EventLogRepository) =>
          new EventLog({ ...input, clock: systemClock, scheduler, repository }),
        inject: [Scheduler, EventLogRepository],
      },
      {
        provide: AuditKeeper,
        useFactory: (scheduler: Scheduler, repository: AuditEventsRepository) =>
          new AuditKeeper({
            ...{ ...input, clock: systemClock, scheduler, repository },
            writer: input.auditWriter,
          }),
        inject: [Scheduler, AuditEventsRepository],
      },
    ];
    return {
      module: PlatformModule,
      // Rooms add their tasks themselves: nobody has to be searched for decorators.
      imports: [
        ScheduleModule.forRoot({ cronJobs: false, intervals: false, timeouts: false }),
        EventLogModule,
        AuditTrailModule,
      ],
      controllers: [HealthController, MetricsController],
      providers: [...providers, { provide: APP_PIPE, useClass: RequestPipe }],
      exports: providers.map((provider) =>
        typeof provider === 'function' ? provider : provider.provide,
      ),
    };
  }
}

/** What the process has opened, by injection. */
function openedParts(input: PlatformInput): Extract<Provider, { provide: unknown }>[] {
  return [
    { provide: CONFIG, useValue: input.config },
    { provide: LOGGER, useValue: input.logger },
    { provide: CLOCK, useValue: systemClock },
    { provide: getDataSourceToken(), useValue: input.dataSource },
    { provide: Database, useValue: input.database },
    { provide: ChangeFeed, useValue: input.changeFeed },
    { provide: Metrics, useValue: input.metrics },
    { provide: Readiness, useValue: input.readiness },
    { provide: DiskPlaces, useFactory: () => diskPlacesOf(input) },
    { provide: Tracing, useValue: input.tracing },
    { provide: Audit, useValue: input.audit },
    { provide: TrustedAuthorities, useValue: input.authorities },
  ];
}

function diskPlacesOf({ config, metrics, readiness }: PlatformInput): DiskPlaces {
  const places = new DiskPlaces(readiness, metrics);
  places.add('home', () => Promise.resolve(config.homePath));
  return places;
}
