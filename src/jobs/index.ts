export { JOB_SCHEMAS, JobsModule } from './jobs.module.js';
export { JobsService } from './list/jobs.service.js';
export type { JobListResponse } from './list/job.response.js';
export { JobPolicy } from './access/job.policy.js';
export { JobFeed, jobEventData, type JobEvent } from './feed/job-feed.js';
export { jobSelector } from './feed/job-selector.js';
export { JobSelectionQuery, JobSummaryQuery, ListJobsQuery } from './list/list-jobs.query.js';
export { JobControlService } from './control/job-control.service.js';
export { renderManifestKeys } from './manifest/manifest-keys.page.js';
export { renderJobStates } from './state/job-states.page.js';
export { SANDBOX_STORE, type SandboxStore } from './sandbox/sandbox.store.js';
export { describeSlurm, type SlurmReport } from './places/slurm/slurm-report.js';
export { SiteSecrets } from './workers/site-secrets.js';
export { WORKER_ISOLATIONS, type WorkerFacts } from './workers/worker.entity.js';
export type {
  ArrivalsAnswer,
  ClaimAnswer,
  ClaimedRun,
  ClaimRequest,
  InputsAnswer,
  OutputRead,
  OutputReadAnswer,
  ReportAnswer,
  RunKey,
  RunReport,
  UploadsAnswer,
} from './workers/exchange/protocol.js';
export type { OwnMachine, OwnWorkerStart } from './workers/own/own-machine.js';
export { WorkersService, type WorkerReport } from './workers/workers.service.js';
export { PlaceReport } from './matching/place-report.js';
export { ShareReport, type GroupShare } from './matching/share-report.js';
