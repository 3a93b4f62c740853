export { JobsModule, type JobsModuleInput } from './jobs.module.js';
export { JOB_SCHEMAS } from './job-filters.openapi.js';
export { JobsService } from './jobs.service.js';
export { JobControlService } from './job-control.service.js';
export { JobsRepository } from './jobs.repository.js';
export { JobListRepository } from './job-list.repository.js';
export { INPUT_DATA_CATALOGUE, type InputDataCatalogue } from './executor/executor.js';
export { renderJobStates } from './state/job-states.page.js';
export { JOB_STATES, type JobState } from './state/job-state.js';
