import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#src/kernel/index.js';
import type { Config, Logger } from '#src/platform/index.js';
import type { SandboxService } from '../../sandbox/sandbox.service.js';
import type { SandboxStore } from '../../sandbox/sandbox.store.js';
import type { Move } from '../../jobs.repository.js';
import type { DispatchRepository } from '../dispatch.repository.js';
import type { RunOrder } from '../executor.js';
import type { RunReports } from '../run-reports.js';
import type { JobAccount } from './job-account.js';
import { LocalRun } from './local-run.js';
import { RunDirectory } from './run-directory.js';
import { planOf } from './run-plan.js';
import type { RunTraces } from './run-processes.js';
import type { RunRoot } from './run-root.js';

/** What the executor works with. */
export interface LocalProcessParts {
  config: Config;
  logger: Logger;
  clock: Clock;
  reports: RunReports;
  repository: DispatchRepository;
  sandboxes: SandboxService;
  store: SandboxStore;
  /** PATH of a site; undefined for the usual one. */
  pathOf: (site: string) => Promise<string | undefined>;
}

/** The executor's parts after it was opened, and the words that they share. */
export class LocalContext {
  readonly backend = 'local-process';
  readonly id: string;

  constructor(
    readonly parts: LocalProcessParts,
    readonly root: RunRoot,
    readonly account: JobAccount,
  ) {
    this.id = root.executorId;
  }

  newRun(order: RunOrder): LocalRun {
    return new LocalRun(order, planOf(order), this.directoryOf(order));
  }

  directoryOf(order: Pick<RunOrder, 'jid' | 'attempt'>): RunDirectory {
    return new RunDirectory(join(this.root.path, runName(order)));
  }

  /** What every process of the run carries in its environment. */
  markOf(order: Pick<RunOrder, 'jid' | 'attempt'>): string {
    return `${this.id}/${runName(order)}`;
  }

  /** By what its processes are found. */
  tracesOf(run: LocalRun): RunTraces {
    return { mark: this.markOf(run.order), leader: run.leader(), seen: run.seen };
  }

  /** Reports a move of a job that this executor holds; false when it was not where the move starts. */
  async report(
    run: LocalRun,
    move: Omit<Move, 'jid' | 'held' | 'source'> & { source?: string },
  ): Promise<boolean> {
    return this.parts.reports.report({
      source: this.backend,
      ...move,
      jid: run.order.jid,
      held: { executor: this.id, attempt: run.order.attempt },
    });
  }

  now(): Date {
    return new Date(this.parts.clock.now());
  }
}

/** Name of a run's directory. */
export function runName(order: Pick<RunOrder, 'jid' | 'attempt'>): string {
  return `${order.jid}.${order.attempt}`;
}

/** Changes with every boot of the machine. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}
