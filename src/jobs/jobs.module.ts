import { Module, type DynamicModule, type FactoryProvider, type Type } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK, CONFIG, Database, LOGGER, type Config, type Logger } from '#src/platform/index.js';
import { RegistryModule, RegistryService, type Site } from '#src/registry/index.js';
import { Dispatcher } from './matching/dispatcher.js';
import { DispatchRepository } from './matching/dispatch.repository.js';
import {
  EXECUTORS,
  INPUT_DATA_CATALOGUE,
  type Executor,
  type InputDataCatalogue,
} from './run/executor.js';
import type { IsolationReport } from './places/local/open-place.js';
import { LocalProcessExecutor } from './places/local/local-process.executor.js';
import { Matcher } from './matching/matcher.js';
import { QueueRepository } from './matching/queue.repository.js';
import { Reaper } from './matching/reaper.js';
import { RunReports } from './run/run-reports.js';
import { SlurmExecutor } from './places/slurm/slurm.executor.js';
import { JobAccess } from './job-access.service.js';
import { JobControlService } from './job-control.service.js';
import { JobDetailsController } from './job-details.controller.js';
import { JobInsightService } from './job-insight.service.js';
import { JobListRepository } from './job-list.repository.js';
import { JobMetrics } from './job-metrics.js';
import { JobPolicy } from './job.policy.js';
import { JobsController } from './jobs.controller.js';
import { JobsRepository } from './jobs.repository.js';
import { JobsService } from './jobs.service.js';
import { DirectorySandboxStore } from './sandbox/directory.store.js';
import { JobSandboxesController } from './sandbox/job-sandboxes.controller.js';
import { JobSandboxesService } from './sandbox/job-sandboxes.service.js';
import { SandboxRepository } from './sandbox/sandbox.repository.js';
import { SandboxService } from './sandbox/sandbox.service.js';
import { sandboxDirectory, SandboxSpool } from './sandbox/sandbox-spool.js';
import { SANDBOX_STORE, type SandboxStore } from './sandbox/sandbox.store.js';
import { S3SandboxStore, s3SettingsOf } from './sandbox/s3.store.js';
import { SubmissionReader } from './submit/submission.js';
import { SubmitLookup } from './submit/submit-lookup.js';
import { SubmitRate } from './submit/submit-rate.js';
import { SubmitRepository } from './submit/submit.repository.js';
import { SubmitService } from './submit/submit.service.js';

/** What the composition root binds. */
export interface JobsModuleInput {
  /** False on instances that only run jobs. */
  hasRoutes: boolean;
  /** The catalogue that knows input data; without one no job with input data can run. */
  inputData?: {
    imports: (Type | DynamicModule)[];
    inject: FactoryProvider['inject'];
    useFactory: (...parts: never[]) => InputDataCatalogue;
  };
}

const NO_CATALOGUE: InputDataCatalogue = {
  missing: (_submitter, paths) => Promise.resolve([...paths]),
};

/** Jobs: the routes, the sandboxes, and on instances that run jobs the dispatcher and its executors. */
@Module({})
export class JobsModule {
  static forRoot(input: JobsModuleInput): DynamicModule {
    const { inputData } = input;
    return {
      module: JobsModule,
      imports: [RegistryModule, ...(inputData?.imports ?? [])],
      controllers: input.hasRoutes
        ? [JobsController, JobDetailsController, JobSandboxesController]
        : [],
      providers: [
        ...PARTS,
        inputData
          ? {
              provide: INPUT_DATA_CATALOGUE,
              inject: inputData.inject ?? [],
              useFactory: inputData.useFactory as (...parts: unknown[]) => InputDataCatalogue,
            }
          : { provide: INPUT_DATA_CATALOGUE, useValue: NO_CATALOGUE },
      ],
      exports: [JobsService, JobControlService, JobsRepository, JobListRepository],
    };
  }
}

const PARTS = [
  JobsService,
  JobControlService,
  JobInsightService,
  JobAccess,
  JobsRepository,
  JobListRepository,
  JobMetrics,
  SubmissionReader,
  SubmitLookup,
  SubmitRate,
  SubmitRepository,
  SubmitService,
  SandboxRepository,
  SandboxSpool,
  SandboxService,
  JobSandboxesService,
  DispatchRepository,
  QueueRepository,
  Matcher,
  RunReports,
  Dispatcher,
  Reaper,
  {
    provide: JobPolicy,
    inject: [CONFIG],
    useFactory: (config: Config): JobPolicy => new JobPolicy(config.globalJobs),
  },
  {
    provide: SANDBOX_STORE,
    inject: [CONFIG],
    useFactory: (config: Config): SandboxStore => {
      const s3 = s3SettingsOf(config);
      return s3 ? new S3SandboxStore(s3) : new DirectorySandboxStore(sandboxDirectory(config));
    },
  },
  {
    provide: EXECUTORS,
    inject: [
      CONFIG,
      LOGGER,
      CLOCK,
      RunReports,
      DispatchRepository,
      SandboxService,
      SANDBOX_STORE,
      RegistryService,
      Database,
      JobMetrics,
    ],
    useFactory: (
      config: Config,
      logger: Logger,
      clock: Clock,
      reports: RunReports,
      repository: DispatchRepository,
      sandboxes: SandboxService,
      store: SandboxStore,
      registry: RegistryService,
      database: Database,
      metrics: JobMetrics,
    ): Executor[] => {
      const parts = { config, logger, clock, reports, repository, sandboxes, store };
      const siteOf = async (name: string): Promise<Site | undefined> =>
        (await registry.current()).site(name);
      const onIsolation = ({ level }: IsolationReport): void => metrics.isolation(level);
      return [
        new LocalProcessExecutor({ ...parts, siteOf, onIsolation }),
        new SlurmExecutor({ ...parts, siteOf }, database),
      ];
    },
  },
];
