import type { IsolationReport } from '../../jobs/index.js';
import { ok, skipped, warning, type Finding } from './finding.js';

/** How local jobs are kept apart from the service and each other on this machine. */
export function isolationFinding({ level, reason, isWanted }: IsolationReport): Finding {
  const check = 'isolation of local jobs';
  if (level === 'none') {
    const advice = 'Set GRID_LOCAL_ISOLATION=auto: now a job can do whatever the service can';
    return warning(check, `level none: ${reason}`, advice);
  }
  if (level !== 'off') return ok(check, `level ${level}: ${reason}`);
  if (!isWanted) return skipped(check, `off: ${reason}`);
  const advice =
    'Local sites are off, everything else works; see docs/explanation/what-a-job-can-do.md';
  return warning(check, `off: ${reason}`, advice);
}
