import { constants } from 'node:os';
import { MINOR } from '../state/job-state.js';

/** How the payload of a run ended, as its supervisor wrote it. */
export interface ExitRecord {
  /** As shells say it: 128 + n for signal n. */
  code: number;
  cpuSeconds: number;
  endedAt: Date;
}

/** Why the service itself ended a payload. */
export const LIMIT_REASONS = {
  cpu: MINOR.cpuLimit,
  wall: MINOR.wallClockLimit,
  memory: MINOR.memoryLimit,
  processes: MINOR.processLimit,
  disk: MINOR.diskLimit,
  files: MINOR.filesLimit,
} as const;

/** How a run ended. */
export interface Verdict {
  isGood: boolean;
  minor: string;
  /** Text for the application status; undefined leaves it as it is. */
  app?: string;
}

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** What a run's records mean for its job. */
export function judge(
  exit: ExitRecord | undefined,
  limitReason: string | undefined,
  cpuTime: number,
): Verdict {
  if (limitReason !== undefined) {
    const minor = Object.values(LIMIT_REASONS).find((text) => limitReason.startsWith(text));
    const app = limitReason.slice(limitReason.indexOf('|') + 1);
    return { isGood: false, minor: minor ?? MINOR.threadFailed, app };
  }
  if (!exit) {
    const app = 'The processes of the job are gone and left no exit code';
    return { isGood: false, minor: MINOR.pilotGone, app };
  }
  const signal = exit.code > 128 ? exit.code - 128 : 0;
  const name = SIGNAL_NAMES.get(signal);
  // Many processes can use up the limit together between two looks, and then end well.
  const isCpu =
    name === 'SIGXCPU' ||
    exit.cpuSeconds > cpuTime ||
    (name === 'SIGKILL' && exit.cpuSeconds >= cpuTime);
  if (exit.code === 0 && !isCpu) return { isGood: true, minor: MINOR.complete };
  if (isCpu) return { isGood: false, minor: MINOR.cpuLimit, app: `Used ${exit.cpuSeconds} s` };
  if (name === 'SIGXFSZ') {
    return { isGood: false, minor: MINOR.diskLimit, app: 'A file became larger than allowed' };
  }
  if (name !== undefined) {
    return { isGood: false, minor: MINOR.threadFailed, app: `Ended by signal ${name}` };
  }
  return { isGood: false, minor: MINOR.finishedWithErrors, app: `Exited with code ${exit.code}` };
}
