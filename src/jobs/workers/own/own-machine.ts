import type { WorkerFacts } from '../worker.entity.js';
import type { ClaimedRun } from '../exchange/protocol.js';

/** A run that a service of an earlier release has begun itself. */
export interface TakenRun {
  claimed: ClaimedRun;
  /** The boot of the machine in which it was claimed. */
  boot: string;
}

/** What the service's own worker is told at its start. */
export interface OwnWorkerStart {
  /** Runs that it takes over; what has no directory is none of its. */
  taken: readonly TakenRun[];
  /** Told why no job can run on this machine. */
  onOff: (reason: string) => void;
}

/** The machine of the service, on which its own worker runs jobs of sites with the backend `local-process`. */
export interface OwnMachine {
  /** Id of the worker: of GRID_HOME, over all restarts. */
  workerId(): Promise<string>;
  /** Whether jobs that are kept apart so would find that program; `path`: of their site, else the usual one. */
  hasProgram(
    name: string,
    place: { path: string | undefined; isolation: WorkerFacts['isolation'] },
  ): Promise<boolean>;
  /** Starts the worker in the place of one that an earlier process of the service has left; and again when it ends by itself. */
  start(worker: OwnWorkerStart): Promise<void>;
  /** It is started no more. With runs it goes on until it has none, and no service; without it is ended here. */
  stop(hasRuns: boolean): Promise<void>;
}

/** Injection token of the OwnMachine, which the composition root binds. */
export const OWN_MACHINE = Symbol('OwnMachine');
