import type { RunFault } from '../../run/run-plan.js';
import { RunLife } from '../../run/run-life.js';
import { RunOutcomes } from '../../run/run-outcomes.js';
import type { StoredBatch } from './run-directory.js';
import { RunTrash } from './run-trash.js';
import { SlurmAccounting } from './slurm-accounting.js';
import { SlurmCanceller } from './slurm-canceller.js';
import { SlurmHealth } from './slurm-health.js';
import type { OpenSlurmParts } from './slurm-parts.js';
import { SLURM, SlurmPlace } from './slurm-place.js';
import type { SlurmRun } from './slurm-run.js';
import { SlurmSubmitter } from './slurm-submitter.js';
import { SlurmWatcher } from './slurm-watcher.js';

/** What an open Slurm executor consists of. */
export interface SlurmAssembly {
  parts: OpenSlurmParts;
  submitter: SlurmSubmitter;
  canceller: SlurmCanceller;
  place: SlurmPlace;
  life: RunLife<SlurmRun>;
  watcher: SlurmWatcher;
  accounting: SlurmAccounting;
  health: SlurmHealth;
  trash: RunTrash;
}

/** Who has the runs: the parts ask for them and say what became of them. */
export interface SlurmRunKeeper {
  all(): SlurmRun[];
  /** Those of a batch that nobody has stopped. */
  runsOf(batch: StoredBatch): SlurmRun[];
  refuse(run: SlurmRun, fault: RunFault): Promise<void>;
  stopUnsubmitted(run: SlurmRun): Promise<void>;
  takeOut(run: SlurmRun): Promise<void>;
  forget(run: SlurmRun): Promise<void>;
  /** There may be room for further ones. */
  free(): void;
}

/** Puts the parts together. */
export function assemble(parts: OpenSlurmParts, keeper: SlurmRunKeeper): SlurmAssembly {
  const place = new SlurmPlace(parts);
  const service = new RunOutcomes(parts, { id: parts.executorId, source: SLURM });
  const life = new RunLife(parts, place, service);
  const accounting = new SlurmAccounting(parts);
  const canceller = new SlurmCanceller(parts, (batch) => keeper.runsOf(batch).length > 0);
  const submitter = new SlurmSubmitter(parts, {
    refused: (run, fault) => keeper.refuse(run, fault),
    stopped: (run) => keeper.stopUnsubmitted(run),
    runsOf: (batch) => keeper.runsOf(batch),
  });
  const watcher = new SlurmWatcher(parts, keeper, { life, place, accounting });
  const health = new SlurmHealth(parts, () => keeper.free());
  const trash = new RunTrash(parts);
  return { accounting, parts, submitter, canceller, place, life, watcher, health, trash };
}
