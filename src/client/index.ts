export {
  GridClient,
  type FoundDirectory,
  type GridClientOptions,
  type RawAnswer,
} from './grid-client.js';
export { parseJson, stringifyJson } from '#src/kernel/json.js';
export { moveFile, moveFileAsOwn, readFileEntry, type FileEntry } from './catalogue-files.js';
export { failureAdvice } from './failure-advice.js';
export type { OutputEvent } from './follow-output.js';
export type { JobChange, WatchedJobs, WatchOptions } from './job-watch.js';
export { GridError } from './grid-error.js';
export { metadataValue } from './metadata-value.js';
export { base64Url, decodePath, encodePath } from './request/encoding.js';
export {
  beginSignIn,
  finishSignIn,
  renewToken,
  signOut,
  type Application,
  type SignInState,
} from './sign-in.js';
export type {
  BodyText,
  CallOptions,
  Conditions,
  OperationRequest,
} from './request/operation-request.js';
export type * from './generated/schemas.js';
export type * from './generated/operations.js';
