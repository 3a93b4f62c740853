import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { CLOCK, systemClock } from '#src/kernel/index.js';
import { TrustedAuthorities } from '#src/x509/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database } from '#src/database/index.js';
import { HttpModule } from '#src/http/index.js';
import {
  Readiness,
  LOGGER,
  type Logger,
  Metrics,
  DiskPlaces,
  ExpiredRows,
  Scheduler,
  Tracing,
} from '#src/runtime/index.js';
import {
  Audit,
  AuditEventsRepository,
  AuditKeeper,
  AuditTrailModule,
  type AuditWriter,
} from '#src/audit/index.js';
import {
  EventLog,
  EventLogModule,
  EventLogRepository,
  FeedAnswers,
  Streams,
} from '#src/events/index.js';

/** What the process has opened before the application is made. */
export interface Infrastructure {
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
export class InfrastructureModule {
  static forRoot(input: Infrastructure): DynamicModule {
    const providers: Provider[] = [
      ...openedParts(input),
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
      module: InfrastructureModule,
      // Rooms add their tasks themselves: nobody has to be searched for decorators.
      imports: [
        ScheduleModule.forRoot({ cronJobs: false, intervals: false, timeouts: false }),
        HttpModule,
        EventLogModule,
        AuditTrailModule,
      ],
      providers,
      exports: providers.map((provider) =>
        typeof provider === 'function' ? provider : provider.provide,
      ),
    };
  }
}

/** What the process has opened, by injection. */
function openedParts(input: Infrastructure): Extract<Provider, { provide: unknown }>[] {
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

function diskPlacesOf({ config, metrics, readiness }: Infrastructure): DiskPlaces {
  const places = new DiskPlaces(readiness, metrics);
  places.add('home', () => Promise.resolve(config.homePath));
  return places;
}
