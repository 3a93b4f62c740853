import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database } from '#src/database/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { RegistryModule, RegistryService, type Site } from '#src/registry/index.js';
import { Admissions } from './matching/admissions.js';
import { DispatchTasks } from './matching/dispatch-tasks.js';
import { ExecutorTasks } from './matching/executor-tasks.js';
import { OpenExecutors } from './matching/open-executors.js';
import { Dispatcher } from './matching/dispatcher.js';
import { DispatchRepository } from './matching/dispatch.repository.js';
import {
  EXECUTOR_SOURCE,
  EXECUTORS,
  type ExecutorSource,
  INPUT_DATA_CATALOGUE,
  type Executor,
  type InputDataCatalogue,
  type OutputStorage,
} from './run/executor.js';
import { LimitsRepository } from './limits/limits.repository.js';
import { WaitingLimits } from './limits/waiting-limits.js';
import { Matcher } from './matching/matcher.js';
import { JobShareEntity } from './matching/job-share.entity.js';
import { ShareBook } from './matching/share-book.js';
import { ShareCounter } from './matching/share-counter.js';
import { ShareReport } from './matching/share-report.js';
import { SharesRepository } from './matching/shares.repository.js';
import { LanesRepository } from './matching/lanes.repository.js';
import { QueueRepository } from './matching/queue.repository.js';
import { Cleaner } from './housekeeping/cleaner.js';
import { Reaper } from './housekeeping/reaper.js';
import { JobExecutorEntity } from './matching/job-executor.entity.js';
import { JobOutputReadEntity } from './matching/job-output-read.entity.js';
import { OutputReads } from './matching/output-reads.js';
import { PlaceReport } from './matching/place-report.js';
import { OutputReadsRepository } from './matching/output-reads.repository.js';
import {
  JobBlockCountEntity,
  JobLabelCountEntity,
  JobTotalEntity,
} from './list/job-counters.entity.js';
import { SandboxEntity } from './sandbox/sandbox.entity.js';
import { JobEntity } from './state/job.entity.js';
import { JobDescriptionEntity, JobTemplateEntity } from './state/job-description.entity.js';
import { JobHistoryEntity } from './state/job-history.entity.js';
import { JobParametersEntity } from './state/job-parameters.entity.js';
import { IdempotencyKeyEntity } from './submit/idempotency-key.entity.js';
import { JobTokenRightEntity } from './run/job-token-right.entity.js';
import { JobTokens } from './run/job-tokens.js';
import { LeftOutputs } from './run/left-outputs.js';
import { LeftOutputsRepository } from './run/left-outputs.repository.js';
import { JobTokensRepository } from './run/job-tokens.repository.js';
import { RUN_OUTCOMES, RunOutcomes, type RunOutcomesOf } from './run/run-outcomes.js';
import { RunReports } from './run/run-reports.js';
import { RunTokenEntity } from './run/run-token.entity.js';
import { SlurmExecutor } from './places/slurm/slurm.executor.js';
import { SlurmLeadership } from './places/slurm/slurm-leadership.js';
import type { SlurmParts } from './places/slurm/slurm-parts.js';
import { SlurmSites } from './places/slurm/slurm-sites.js';
import { JobEventsController } from './feed/job-events.controller.js';
import { JobFeed } from './feed/job-feed.js';
import { JobAccess } from './access/job-access.service.js';
import { JobPointReads } from './access/job-point-reads.js';
import { JobControlService } from './control/job-control.service.js';
import { JobOutputController } from './output/job-output.controller.js';
import { JobOutputService } from './output/job-output.service.js';
import { JobInsightController } from './insight/job-insight.controller.js';
import { Dependencies } from './dependencies/dependencies.js';
import { DependenciesRepository } from './dependencies/dependencies.repository.js';
import { JobDependencyEntity } from './dependencies/job-dependency.entity.js';
import { JobDependencyNewsEntity } from './dependencies/job-dependency-news.entity.js';
import { HoldRepository } from './state/hold.repository.js';
import { JobHoldController } from './control/job-hold.controller.js';
import { JobHoldService } from './control/job-hold.service.js';
import { JobControlController } from './control/job-control.controller.js';
import { SubmitController } from './submit/submit.controller.js';
import { SUBMIT_SCHEMAS } from './submit/submit.openapi.js';
import { LIST_SCHEMAS } from './list/job-list.openapi.js';
import { INSIGHT_SCHEMAS } from './insight/job-insight.openapi.js';
import { LimitObstacles } from './insight/limit-obstacles.js';
import { QueuePlace } from './insight/queue-place.js';
import { JobExplainService } from './insight/job-explain.service.js';
import { JobInsightService } from './insight/job-insight.service.js';
import { JobListRepository } from './list/job-list.repository.js';
import { JobRunEntity } from './state/job-run.entity.js';
import { JobUsageController } from './usage/job-usage.controller.js';
import { JobUsageEntity } from './usage/job-usage.entity.js';
import { JobUsageService } from './usage/job-usage.service.js';
import { UsageFolder } from './usage/usage-folder.js';
import { UsageRepository } from './usage/usage.repository.js';
import { JobSharesController } from './insight/job-shares.controller.js';
import { JobSharesService } from './insight/job-shares.service.js';
import { JobTimelineController } from './list/job-timeline.controller.js';
import { JobTimelineRepository } from './list/job-timeline.repository.js';
import { JobTimelineService } from './list/job-timeline.service.js';
import { JobMetrics } from './state/job-metrics.js';
import { JobPolicy } from './access/job.policy.js';
import { JobsController } from './list/jobs.controller.js';
import { ArraysController } from './arrays/arrays.controller.js';
import { ArraysRepository } from './arrays/arrays.repository.js';
import { ArraysService } from './arrays/arrays.service.js';
import { JobArrayEntity } from './arrays/job-array.entity.js';
import { JobsRepository } from './state/jobs.repository.js';
import { JobsService } from './list/jobs.service.js';
import { DirectorySandboxStore } from './sandbox/directory.store.js';
import { JobSandboxesController } from './sandbox/job-sandboxes.controller.js';
import { JobSandboxesService } from './sandbox/job-sandboxes.service.js';
import { SandboxRepository } from './sandbox/sandbox.repository.js';
import { SandboxService } from './sandbox/sandbox.service.js';
import { SandboxSpool } from './sandbox/sandbox-spool.js';
import { SANDBOX_STORE, sandboxDirectory, type SandboxStore } from './sandbox/sandbox.store.js';
import { S3SandboxStore, s3SettingsOf } from './sandbox/s3.store.js';
import { SubmissionReader } from './submit/submission.js';
import { SubmitLookup } from './submit/submit-lookup.js';
import { SubmitRate } from './submit/submit-rate.js';
import { GatheredSubmits } from './submit/gathered-submits.js';
import { SubmitRepository } from './submit/submit.repository.js';
import { SubmitCheck } from './submit/submit-check.js';
import { SubmitStore } from './submit/submit-store.js';
import { SubmitService } from './submit/submit.service.js';
import { SiteSecretEntity } from './workers/site-secret.entity.js';
import { SiteSecrets } from './workers/site-secrets.js';
import { SiteSecretsRepository } from './workers/site-secrets.repository.js';
import { WorkerEnrolment } from './workers/worker-enrolment.js';
import { WorkerEntity } from './workers/worker.entity.js';
import { WorkerSites } from './workers/worker-sites.js';
import { OWN_MACHINE, type OwnMachine } from './workers/own/own-machine.js';
import { OwnWorker } from './workers/own/own-worker.js';
import { WorkerClaims } from './workers/exchange/worker-claims.js';
import { WorkerExchangeController } from './workers/exchange/worker-exchange.controller.js';
import { WorkerOutputs } from './workers/exchange/worker-outputs.js';
import { WorkerReports } from './workers/exchange/worker-reports.js';
import { WorkerRuns } from './workers/exchange/worker-runs.js';
import { WorkerRunsRepository } from './workers/exchange/worker-runs.repository.js';
import { WorkersController } from './workers/workers.controller.js';
import { WorkersRepository } from './workers/workers.repository.js';
import { WorkerMetrics } from './workers/exchange/worker-metrics.js';
import { WorkersService } from './workers/workers.service.js';

/** What the composition root binds. */
export interface JobsModuleInput {
  /** False on instances that only run jobs. */
  hasRoutes: boolean;
  /** The authorization server, for the tokens of jobs. */
  auth: DynamicModule;
  /** Where the service's own worker runs jobs. */
  ownMachine: OwnMachine;
  /** The catalogue that knows input data; without one no job with input data can run. */
  inputData?: {
    imports: DynamicModule[];
    useExisting: Type<InputDataCatalogue>;
  };
}

/** Named shapes that no class can describe. */
export const JOB_SCHEMAS = { ...SUBMIT_SCHEMAS, ...LIST_SCHEMAS, ...INSIGHT_SCHEMAS };

const NO_OUTPUTS: OutputStorage = {
  begin: () => Promise.resolve(undefined),
  arrived: () => Promise.resolve([]),
  register: () => Promise.reject(new Error('there is no catalogue')),
  openRuns: () => Promise.resolve([]),
  abandon: () => Promise.resolve(),
};

const NO_CATALOGUE: InputDataCatalogue = {
  files: () => Promise.resolve(new Map()),
  open: () => Promise.resolve([]),
  outputs: NO_OUTPUTS,
};

/** Jobs: the routes, the sandboxes, and on instances that run jobs the dispatcher and its executors. */
@Module({})
export class JobsModule {
  static forRoot(input: JobsModuleInput): DynamicModule {
    const { inputData } = input;
    return {
      module: JobsModule,
      imports: [
        RegistryModule,
        input.auth,
        TypeOrmModule.forFeature(ENTITIES),
        ...(inputData?.imports ?? []),
      ],
      controllers: input.hasRoutes ? [...CONTROLLERS, ...FOR_WORKERS] : FOR_WORKERS,
      providers: [
        ...PARTS,
        { provide: OWN_MACHINE, useValue: input.ownMachine },
        inputData
          ? { provide: INPUT_DATA_CATALOGUE, useExisting: inputData.useExisting }
          : { provide: INPUT_DATA_CATALOGUE, useValue: NO_CATALOGUE },
      ],
      exports: [
        JobsService,
        JobControlService,
        JobsRepository,
        JobListRepository,
        JobFeed,
        JobPolicy,
        PlaceReport,
        SiteSecrets,
        WorkersService,
      ],
    };
  }
}

/** Events and the list stand first: `/jobs/events` and `/jobs/summary` are no job ids. */
const CONTROLLERS = [
  JobEventsController,
  JobTimelineController,
  JobSharesController,
  JobUsageController,
  ArraysController,
  JobsController,
  SubmitController,
  JobControlController,
  JobHoldController,
  JobInsightController,
  JobOutputController,
  JobSandboxesController,
];

/** On instances that only run jobs, too: for their own workers. */
const FOR_WORKERS = [WorkersController, WorkerExchangeController];

const ENTITIES = [
  JobEntity,
  JobDescriptionEntity,
  JobTemplateEntity,
  JobArrayEntity,
  JobHistoryEntity,
  JobParametersEntity,
  JobTokenRightEntity,
  RunTokenEntity,
  SandboxEntity,
  IdempotencyKeyEntity,
  JobExecutorEntity,
  JobOutputReadEntity,
  JobShareEntity,
  JobRunEntity,
  JobUsageEntity,
  JobDependencyEntity,
  JobDependencyNewsEntity,
  JobTotalEntity,
  JobLabelCountEntity,
  JobBlockCountEntity,
  SiteSecretEntity,
  WorkerEntity,
];

/** Injection token of what all batch executors work with (SlurmParts). */
const PLACE_PARTS = Symbol('PlaceParts');

const PARTS = [
  OwnWorker,
  WorkerClaims,
  WorkerOutputs,
  WorkerReports,
  WorkerRuns,
  WorkerRunsRepository,
  JobsService,
  JobControlService,
  JobHoldService,
  ArraysService,
  ArraysRepository,
  HoldRepository,
  Dependencies,
  DependenciesRepository,
  JobExplainService,
  JobInsightService,
  LimitObstacles,
  QueuePlace,
  JobOutputService,
  JobAccess,
  JobPointReads,
  JobsRepository,
  JobListRepository,
  JobFeed,
  JobTimelineService,
  JobTimelineRepository,
  JobMetrics,
  SubmissionReader,
  SubmitLookup,
  SubmitRate,
  GatheredSubmits,
  SubmitRepository,
  SubmitCheck,
  SubmitStore,
  SubmitService,
  SandboxRepository,
  SandboxSpool,
  SandboxService,
  JobSandboxesService,
  DispatchRepository,
  LimitsRepository,
  WaitingLimits,
  LanesRepository,
  QueueRepository,
  ShareBook,
  ShareCounter,
  ShareReport,
  JobSharesService,
  JobUsageService,
  UsageFolder,
  UsageRepository,
  SharesRepository,
  PlaceReport,
  OutputReads,
  OutputReadsRepository,
  Matcher,
  RunReports,
  JobTokens,
  LeftOutputs,
  LeftOutputsRepository,
  JobTokensRepository,
  Admissions,
  DispatchTasks,
  ExecutorTasks,
  OpenExecutors,
  Dispatcher,
  Reaper,
  Cleaner,
  SiteSecrets,
  SiteSecretsRepository,
  WorkerEnrolment,
  WorkerSites,
  WorkersRepository,
  WorkerMetrics,
  WorkersService,
  {
    provide: JobPolicy,
    inject: [CONFIG],
    useFactory: (config: Config): JobPolicy => new JobPolicy(config.globalJobs),
  },
  {
    provide: SANDBOX_STORE,
    inject: [CONFIG, LOGGER],
    useFactory: (config: Config, logger: Logger): SandboxStore => {
      const s3 = s3SettingsOf(config);
      return s3
        ? new S3SandboxStore(s3, logger)
        : new DirectorySandboxStore(sandboxDirectory(config));
    },
  },
  {
    provide: PLACE_PARTS,
    inject: [
      CONFIG,
      LOGGER,
      CLOCK,
      RunReports,
      DispatchRepository,
      SandboxService,
      SANDBOX_STORE,
      RegistryService,
      JobTokens,
      INPUT_DATA_CATALOGUE,
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
      tokens: JobTokens,
      catalogue: InputDataCatalogue,
    ): SlurmParts => {
      const services = { reports, repository, sandboxes, store, tokens, catalogue };
      const siteOf = async (name: string): Promise<Site | undefined> =>
        (await registry.current()).site(name);
      return { config, logger, clock, ...services, siteOf };
    },
  },
  {
    provide: RUN_OUTCOMES,
    inject: [PLACE_PARTS],
    useFactory:
      (parts: SlurmParts): RunOutcomesOf =>
      (executor) =>
        new RunOutcomes(parts, executor),
  },
  {
    provide: SlurmLeadership,
    inject: [Database],
    useFactory: (database: Database): SlurmLeadership => new SlurmLeadership(database),
  },
  {
    provide: EXECUTORS,
    inject: [PLACE_PARTS, SlurmLeadership],
    useFactory: (parts: SlurmParts, leadership: SlurmLeadership): Executor[] => [
      SlurmExecutor.ofSettings(parts, leadership),
    ],
  },
  {
    provide: EXECUTOR_SOURCE,
    inject: [PLACE_PARTS, SlurmLeadership, RegistryService],
    useFactory: (
      parts: SlurmParts,
      leadership: SlurmLeadership,
      registry: RegistryService,
    ): ExecutorSource =>
      new SlurmSites(parts, leadership, async () => (await registry.current()).sites()),
  },
];
