export { awsSdk } from './aws-sdk.js';
export { DiskPlaces } from './disk-places.js';
export { ExpiredRows } from './expired-rows.js';
export { type GridHome, openHome } from './grid-home.js';
export {
  LOGGER,
  type Logger,
  NestLogger,
  REQUEST_LINE,
  createFileLogger,
  createLogger,
  redact,
} from './logger.js';
export { type MetricValues, Metrics } from './metrics.js';
export { ownWorkerDirectory, ownWorkerSocket } from './own-worker-socket.js';
export { type ProbeReply, probeReply } from './probe-reply.js';
export { hasEnded, isRunning, processMark, processStat } from './process-identity.js';
export { LockHeldError, type ProcessLock, acquireProcessLock } from './process-lock.js';
export { Readiness } from './readiness.js';
export { type RunningTask, type ScheduledTask, Scheduler, type TaskOutcome } from './scheduler.js';
export type { RunningSpan } from './span-recorder.js';
export { Tracing } from './tracing.js';
export { TrustedCas } from './trusted-cas.js';
