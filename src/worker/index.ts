export { OutdatedClaimsError } from './exchange/claim-loop.js';
export { runWorker, type WorkerSettings } from './exchange/run-worker.js';
export { WorkerGoneError, WorkerStartError } from './exchange/worker-link.js';
export { WorkerSession } from './exchange/worker-session.js';
export { thisMachine } from './runs/machine-load.js';
export { OwnWorkerLauncher } from './own/own-worker-launcher.js';
export { refuseTrustedNetwork } from './runs/network-rule.js';
export { describeLocalIsolation } from './runs/open-place.js';
export type { IsolationReport } from './isolation/isolation.js';
