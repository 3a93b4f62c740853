export { LocalProcessExecutor } from './runs/local-process.executor.js';
export { refuseTrustedNetwork } from './runs/network-rule.js';
export { describeLocalIsolation } from './runs/open-place.js';
export type { IsolationReport } from './isolation/isolation.js';
