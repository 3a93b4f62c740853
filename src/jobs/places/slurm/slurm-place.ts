import { MINOR } from '../../state/job-state.js';
import type { OutputPlaces } from '../../run/output-places.js';
import type { RunEnd, RunPlace } from '../../run/run-life.js';
import { processorsOf } from '../../run/run-plan.js';
import type { RunUsage } from '../../run/run-usage.js';
import { judge, type Verdict } from '../../run/run-verdict.js';
import type { ExitRecord } from './run-record.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import type { SlurmRun } from './slurm-run.js';

/** Who moves the jobs, in their history, and the batch system of their parameters. */
export const SLURM = 'slurm';
const NO_ACCOUNT = -1;
const NO_FILES: ReadonlyMap<string, string> = new Map();

/** What the wrapper's record means for the job. Undefined when it was ended by somebody whom only Slurm can name. */
export function verdictOfRecord(record: ExitRecord, cpuTime: number): Verdict | undefined {
  const { status, reason, cpuSeconds, endedAt } = record;
  switch (reason) {
    case '':
      return judge({ code: status, cpuSeconds, endedAt }, undefined, cpuTime);
    case 'wall':
      return { isGood: false, minor: MINOR.wallClockLimit, app: 'Ran longer than it may' };
    case 'not-found':
      return { isGood: false, minor: MINOR.applicationNotFound, app: 'The program was not found' };
    case 'no-interpreter': {
      const app = `The interpreter of the program was not found: ${record.firstLine ?? ''}`;
      return { isGood: false, minor: MINOR.applicationNotFound, app };
    }
    case 'no-directory':
      return { isGood: false, minor: MINOR.inputSandboxFailed, app: 'The node lacks its files' };
    case 'cancel':
      return { isGood: false, minor: MINOR.threadFailed, app: 'Ended by the service' };
    case 'term':
      return undefined;
  }
}

/** What the life of runs has to know of a cluster: its directory is emptied by whoever forgets the run. */
export class SlurmPlace implements RunPlace<SlurmRun> {
  constructor(private readonly parts: OpenSlurmParts) {}

  outputOf(run: SlurmRun): OutputPlaces {
    const { directory, accounts } = this.parts;
    return {
      directory: `${directory.pathOf(run.key)}/work`,
      files: NO_FILES,
      // Of a run without an account nothing is taken.
      uid: accounts.givesFiles ? (run.account?.uid ?? NO_ACCOUNT) : undefined,
    };
  }

  endProcesses(): Promise<void> {
    return Promise.resolve(); // there are none here
  }

  remove(): Promise<void> {
    return Promise.resolve(); // with many others, soon
  }

  /** The end of a run by its own record or, without one, by what Slurm says. */
  endOf(run: SlurmRun, record: ExitRecord | undefined, verdict: Verdict): RunEnd {
    const { reference, account } = run;
    return {
      verdict,
      endedAt: record?.endedAt ?? new Date(this.parts.clock.now()),
      usage: record && usageOf(run, record),
      parameters: {
        BatchSystem: SLURM,
        ...(account === undefined ? {} : { LocalAccount: account.name }),
        ...(reference === undefined ? {} : { Pilot_Reference: reference }),
        ...(record === undefined
          ? {}
          : {
              HostName: record.host,
              ExitCode: record.status,
            }),
      },
    };
  }
}

/** What the wrapper of a run has measured. */
export function usageOf({ batch, order }: SlurmRun, record: ExitRecord): RunUsage {
  return {
    source: 'wrapper',
    wallSeconds: (record.endedAt.getTime() - record.begunAt.getTime()) / 1000,
    cpuSeconds: record.cpuSeconds,
    maxRssBytes: record.maxRssBytes,
    processors: batch?.shape.cpus ?? processorsOf(order),
    memoryMb: batch?.shape.memoryMb,
  };
}
