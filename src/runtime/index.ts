export { Collections } from './collections.js';
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
} from './logger.js';
export { LoopStalls, STALL_BUDGET_MS } from './loop-stalls.js';
export { type MetricValues, Metrics } from './metrics.js';
export { type ProbeReply, probeReply } from './probe-reply.js';
export { isRunning, processStat } from './process-identity.js';
export { LockHeldError, type ProcessLock, acquireProcessLock } from './process-lock.js';
export { Readiness } from './readiness.js';
export { redact } from './redact.js';
export { type RunningTask, type ScheduledTask, Scheduler, type TaskOutcome } from './scheduler.js';
export type { RunningSpan } from './span-recorder.js';
export type { ThreadTime } from './thread-time.js';
export { Tracing } from './tracing.js';
