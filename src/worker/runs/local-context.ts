import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#src/kernel/index.js';
import type { Session } from '#src/http-client/index.js';
import type { WorkerConfig } from './worker-config.js';
import type { Logger } from '#src/runtime/index.js';
import {
  LIMIT_REASONS,
  limitsOf,
  MINOR,
  planOf,
  RunLife,
  type RunOrder,
  type RunService,
  type Stored,
} from '#src/jobs/run/index.js';
import { shortMemory } from '../isolation/memory-group.js';
import { InputFetcher } from './fetch-inputs.js';
import type { Machine } from './machine-load.js';
import { LocalRun } from './local-run.js';
import type { LocalPlace } from './open-place.js';
import { RunCleaner } from './run-cleaner.js';
import { RunDirectory, runName } from './run-directory.js';
import { StartGate } from './start-gate.js';
import { OutputStore, StoreFault } from './store-outputs.js';
import { Watcher } from '../watch/watcher.js';

const MIB = 2 ** 20;

/** What the executor works with. */
export interface LocalProcessParts {
  config: WorkerConfig;
  logger: Logger;
  clock: Clock;
  service: RunService;
  /** A way to storage elements. */
  openStorage: () => Session;
  /** File with CAs of storage elements; true: those of the machine. */
  storageCa: string | true;
  /** What jobs may have of the machine. */
  machine: Machine;
  /** What is kept of an order in the directory of its run. */
  orderText: (order: RunOrder) => string;
}

/** The executor's parts after it was opened, and the words that they share. */
export class LocalContext {
  /** That of the machine as it runs now. */
  readonly boot = bootId();
  readonly watcher = new Watcher();
  readonly cleaner: RunCleaner;
  readonly life: RunLife<LocalRun>;
  readonly gate: StartGate;
  readonly fetcher: InputFetcher;
  private readonly outputs: OutputStore;

  constructor(
    readonly parts: LocalProcessParts,
    readonly place: LocalPlace,
  ) {
    const { config, clock, logger, service } = parts;
    this.cleaner = new RunCleaner(place, parts, this.watcher);
    this.life = new RunLife(parts, this.cleaner, service);
    this.fetcher = new InputFetcher(parts);
    this.outputs = new OutputStore(parts);
    this.gate = new StartGate(place.root.path, config.localMinFreeBytes, clock, logger);
  }

  /** Stores files of a run that has ended well. */
  async store(run: LocalRun): Promise<Stored> {
    const places = {
      ...{ directory: run.directory.work, files: run.directory.outputs(run.plan) },
      uid: run.directory.account(),
    };
    try {
      return { missing: await this.outputs.store(run.order, places, run.transfers.signal) };
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      return { fault: error.message, missing: [] };
    }
  }

  newRun(order: RunOrder): LocalRun {
    const directory = new RunDirectory(join(this.place.root.path, runName(order)));
    return new LocalRun(order, planOf(order), directory);
  }

  /** What the supervisor and every process of the run carry in their environment, for people who look for them. */
  markOf(order: Pick<RunOrder, 'jid' | 'attempt'>): string {
    return `${this.place.root.executorId}/${runName(order)}`;
  }

  /** Why a run has to end, or has ended, for want of memory; undefined when there is enough. `rssBytes` count where it has no control group. */
  memoryReason(run: LocalRun, rssBytes = 0): string | undefined {
    const { memoryMb } = limitsOf(run.order, this.parts.config);
    const group = run.group();
    const short = group === undefined ? null : shortMemory(group);
    if (short === 'machine')
      return `${MINOR.threadFailed}|The memory of its machine was not enough`;
    const isShort = short === 'own' || (short === null && rssBytes > memoryMb * MIB);
    return isShort ? `${LIMIT_REASONS.memory}|Used more than ${memoryMb} MiB` : undefined;
  }

  now(): Date {
    return new Date(this.parts.clock.now());
  }
}

/** Changes with every boot of the machine. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}
