export {
  createDetachedApplication,
  controllersOfApplication,
  describeApi,
} from './describe-api.js';
export { createDataSource, createRuntime, type Runtime } from './runtime.js';
export { GridServer } from './server.js';
export { version } from './version.js';
