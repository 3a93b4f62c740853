/** What running jobs takes on a machine of its own: without a database, and without the service. */
export { TOKEN_FILE_VARIABLE } from '../manifest/job-token.js';
export { isOwnProgram, ONLY_OWN_PROGRAMS } from '../manifest/own-programs.js';
export type { InputSource, OpenedFile, RunLeft, RunOrder } from './executor.js';
export { fetchedNames, fetchedPaths } from '../manifest/manifest-places.js';
export { inputDataVariables, type RunInputs, writeInputData } from './input-data.js';
export type { OutputPlaces } from './output-places.js';
export { tailOf } from './output-tail.js';
export { isAway, type RunEnd, RunLife, type RunPlace, shownName, type Stored } from './run-life.js';
export {
  executableOf,
  gpusOf,
  limitsOf,
  memoryOf,
  planOf,
  processorsOf,
  resourceVariables,
  RunFault,
  type RunPlan,
  SITE_PATH,
  uploadedProgram,
} from './run-plan.js';
export type {
  NewOutput,
  ArrivedOutput,
  OpenedOutput,
  RunResult,
  RunReturn,
  RunService,
  RunSite,
} from './run-service.js';
export { outputPlaces, storedNames } from './stored-outputs.js';
export { isPattern } from '../manifest/output-data.js';
export { OutputFinder } from './output-finder.js';
export type { RunUsage } from './run-usage.js';
export { type ExitRecord, judge, LIMIT_REASONS } from './run-verdict.js';
export { HEAD_BYTES, scriptStart, shownFirstLine } from './script-head.js';
export { exportLines, shellWord } from './shell-word.js';
export { StartPause } from './start-pause.js';
export { type ArchiveFile, packArchive, unpackArchive } from '../sandbox/sandbox-archive.js';
export {
  type NewArchive,
  sandboxDirectory,
  SandboxMissingError,
} from '../sandbox/sandbox.store.js';
export { MINOR } from '../state/job-state.js';
export { parseJid } from '../state/job.js';
export type { JobToken } from './job-tokens.js';
export { pathFault } from '../sandbox/repack-archive.js';
export { readOutput } from './output-reader.js';
