import type { JsonObject } from '#src/kernel/index.js';
import type { Transaction } from '#src/database/index.js';
import type { Site, SiteBackend } from '#src/registry/index.js';
import type { BatchWait } from '../state/batch-wait.js';
import type { Jid } from '../state/job.js';
import type { JobState } from '../state/job-state.js';
import type { RunUse } from '../state/run-use.js';
import type { OutputPlaces } from './output-places.js';

/** A job that was claimed for an executor: Matched, held by it, certainly not started. */
export interface RunOrder {
  jid: Jid;
  /** Grows with every claim; (jid, attempt) names a run. */
  attempt: number;
  site: string;
  setup: string;
  owner: string;
  ownerGroup: string;
  /** Seconds of CPU that it may use. */
  cpuTime: number;
  manifest: JsonObject;
  inputSandbox: string | null;
  /** What its site declares to have, where that is more than a machine seems to have. */
  declared?: { processors?: number | undefined; ramMB?: number | undefined };
  /** How long it stood in the queue; only right after a claim. */
  waitedSeconds?: number;
}

/** A job as the database shows it to the executor that holds it. */
export interface HeldJob extends RunOrder {
  status: JobState;
  /** What the executor noted about the run; for a batch system its id there. */
  reference: string | null;
  startedAt: Date | null;
  lastUpdate: Date;
}

/** What is free for jobs of sites that do not say what they have: of the machine that runs them. */
export interface FreeMachine {
  /** Less than nothing while jobs are prepared ahead. */
  processors: number;
  /** Jobs of one processor that may be claimed beyond `processors`, to be prepared while others run. */
  ahead: number;
  ramMB: number;
  /** Undefined: what its sites declare is believed. */
  gpus?: number | undefined;
  /** A site that declares more GPUs than this gets no job that asks for one; undefined: any may. */
  mostGpus?: number | undefined;
  /** The machine when nothing runs: it gets, and has nothing kept for, no job that it could never hold. Undefined: what its sites declare. */
  whole?: WholeMachine | undefined;
}

/** What a worker says of its machine, of which nothing else runs. What is left out bounds nothing. */
export interface WholeMachine {
  processors?: number;
  /** MB of 2^20 bytes. */
  ramMB?: number;
  gpus?: number;
  /** What jobs may ask for by name; left out: all that its site has. */
  tags?: string[];
  /** When it takes its leave, an instant (ISO 8601); left out: it stays. */
  endsAt?: string;
  /** It ends a job that has run for so long. */
  wallSeconds?: number;
}

/** Who takes waiting jobs: which sites it serves, and what it has free. */
export interface Claimant {
  /** It holds jobs under this name; stable over restarts. */
  readonly id: string;
  readonly backend: SiteBackend;
  /** What is noted as the reference of a claim; undefined for none. */
  readonly reference?: string;
  /** Claimants of one queue look at its lanes in turns together; its id unless told. */
  readonly queue?: string;
  /** It takes jobs of this owner alone; null: of one owner, whoever is first. Left out: of all. */
  readonly owner?: string | null;
  /** Whether it may still take jobs, as the transaction that gives them sees it; left out: it may. */
  mayTake?(transaction: Transaction): Promise<boolean>;
  /** Whether jobs of the site are its. */
  serves(site: Site): boolean;
  /** Jobs that it would take now, over all of its sites. */
  freeSlots(): number;
  /**
   * What its jobs leave free. `sites` are all that it serves: what they declare is believed also where the machine
   * seems to have less. Infinity where somebody else (a batch system) finds the place.
   */
  freeMachine(sites: readonly Site[]): FreeMachine;
  /** Jobs under way at a site, for the choice among sites. */
  load(site: string): number;
}

/**
 * A compute backend on this instance. It holds jobs in the database under its `id`; only an executor that holds a
 * job moves it on, always through RunReports, and it starts a program only after the move to Running was
 * committed: a Matched job has certainly not been started, whoever died. (A batch system starts jobs at a time of its
 * own: its executor proves by taking the claim that a Matched job never starts before it gives it back, and nobody else gives
 * its jobs back.) It lets go of a job (executor null)
 * when nothing of the job is left to look after.
 */
export interface Executor extends Claimant {
  /** Stable over restarts. Instances that share an id look after the same runs, one at a time. */
  readonly id: string;
  /** Why it can be given no jobs now, as a sentence; null when it can, undefined while another instance knows. */
  readonly fault?: string | null | undefined;
  /** Called when places have become free; set by the dispatcher. */
  onFree: () => void;
  /** Prepares the backend; false (with a reason in the log) when it cannot be used on this instance. */
  open(): Promise<boolean>;
  /** Takes claimed jobs; returns at once, everything after it is the executor's care. */
  start(orders: readonly RunOrder[]): void;
  /**
   * Compares what it knows with all jobs that the database says it holds: re-attaches after a restart, ends what
   * should not run any more, gives back what was never started. Called at start and every few seconds.
   */
  reconcile(held: readonly HeldJob[]): Promise<void>;
  /** A job was killed or taken back: end its run soon. Unknown ids are ignored. */
  cancel(jid: string): void;
  /** Where the output of a run of this executor lies; undefined when it has no such run. */
  outputOf(job: HeldJob): Promise<OutputPlaces | undefined>;
  /** Hands back what was not started and stops looking; running programs go on. */
  close(): Promise<void>;
}

/** What a run leaves that nobody waits for. */
export interface RunLeft {
  /** Hash of its output sandbox. */
  output?: string | undefined;
  endedAt?: Date | undefined;
  use?: RunUse | undefined;
}

/** What executors ask and tell the database of the jobs that they hold, beside the moves that they report. */
export interface HeldRuns {
  /** Lets go of a run that is over, without moving the job; an output that came late is still kept. */
  release(run: { jid: Jid; attempt: number; executor: string }, left?: RunLeft): Promise<void>;
  /** True while the very run is under way in the hands of the executor. */
  isUnderWay(run: { jid: Jid; attempt: number; executor: string }): Promise<boolean>;
  /** Notes why jobs that the executor holds wait in the queue of its batch system; nothing of those that have begun. */
  noteWaits(
    executor: string,
    waits: readonly { jid: Jid; attempt: number; wait: BatchWait }[],
  ): Promise<void>;
  /** How often the job was given back to the queue with a reason that begins so. */
  countGivenBack(jid: Jid, reason: string): Promise<number>;
  /** Adds what became known of a run after its end; nothing when the job has gone on to another attempt. */
  addParameters(
    run: { jid: Jid; attempt: number },
    parameters: Record<string, string | number>,
  ): Promise<void>;
  /** Puts better numbers in the place of those of a run that was written down a few minutes ago. */
  correctUse(run: { jid: Jid; attempt: number }, use: RunUse): Promise<void>;
}

/** Id of the executor of a site that has a cluster or workers of its own; undefined for those that share one. */
export function ownExecutorOf({ name, backend, connection }: Site): string | undefined {
  return connection === undefined && backend !== 'worker' ? undefined : `${backend}:${name}`;
}

/** Executors that come and go with the registry. */
export interface ExecutorSource {
  /** Those that should be at work now: the same objects for as long as nothing of theirs has changed. */
  current(): Promise<readonly Executor[]>;
}

/** Injection token of the ExecutorSource. */
export const EXECUTOR_SOURCE = Symbol('ExecutorSource');

/** Injection token of the executors that every instance has. */
export const EXECUTORS = Symbol('Executors');

/** Whose job it is. */
export interface Submitter {
  user: string;
  group: string;
}

/** A file of the catalogue that a job names as input data. */
export interface InputFile {
  /** Bytes. */
  size: number | bigint;
  /** Hexadecimal, by the name of its kind in small letters: `{adler32: "…"}`. */
  checksum: Record<string, string>;
  /** Those that have an address, a URL; and the storage element. */
  replicas: { url: string; se: string }[];
  /** It can be fetched for a job of the submitter. */
  isFetched: boolean;
}

/** A file of the catalogue, and what opens each of its replicas, in the order in which they are tried. */
export interface OpenedFile extends Pick<InputFile, 'size' | 'checksum'> {
  path: string;
  sources: InputSource[];
}

/** What opens a replica. */
export interface InputSource {
  se: string;
  url: string;
  /** For requests to `url`. */
  headers?: Record<string, string>;
  /** The address that is opened without them. */
  presigned?: string;
  /** When that ends, an instant (ISO 8601). */
  expires: string;
}

/** What tells the bytes of a file apart; checksums hexadecimal. */
export interface FileDigests {
  /** Bytes. */
  size: number;
  adler32: string;
  sha256: string;
  /** Only S3 needs it. */
  md5?: string | undefined;
}

/** A file that a run stores. */
export interface StoredFile extends FileDigests {
  path: string;
  /** Storage elements, in the order in which they are tried; absent: all. */
  ses?: readonly string[] | undefined;
  /** Those that did not take it. */
  failed: readonly string[];
}

/**
 * Where a file is to be written, and what lets it in; that it is there; that its element is away, or has to be told its MD5 beforehand; or why
 * it cannot be stored.
 */
export type StoragePlace =
  | InputSource
  | { isThere: true }
  | { needs: 'md5' }
  | { se: string; away: string }
  | { fault: string };

/** A run, and whose it is. */
export interface OwnedRun extends Submitter {
  jid: Jid;
  attempt: number;
  setup: string;
}

/** Files that runs store: held, let in, looked at, and registered. */
export interface OutputStorage {
  /** Undefined when the owner may nothing any more. Throws Problem 503 while that cannot be said. */
  begin(
    run: OwnedRun,
    files: readonly StoredFile[],
  ): Promise<({ path: string } & StoragePlace)[] | undefined>;
  /** Looks at the bytes of these paths; answers which elements are away, and why some are not what they are to be. */
  arrived(
    run: Pick<OwnedRun, 'jid' | 'attempt'>,
    paths: readonly string[],
  ): Promise<{ path: string; away?: string; fault?: string }[]>;
  /** Registers all files of the run, with these among them, in one transaction with the rest. Throws Problem, and what `within` throws. */
  register(
    run: OwnedRun,
    demanded: readonly string[],
    within: (transaction: Transaction, paths: readonly string[]) => Promise<void>,
  ): Promise<void>;
  /** Runs that have bytes which are not registered: some, after another one, in the order of their numbers. */
  openRuns(after?: { jid: Jid; attempt: number }): Promise<{ jid: Jid; attempt: number }[]>;
  /** Nobody waits for them: their bytes are removed. */
  abandon(runs: readonly { jid: Jid; attempt: number }[]): Promise<void>;
}

/** Looks files up that jobs name as input data; the composition root binds it to the catalogue. */
export interface InputDataCatalogue {
  /**
   * Those of the paths that are files of the catalogue as the submitter sees it: what may not be read there is
   * missing, and nothing says which of both it is.
   */
  files(submitter: Submitter, paths: readonly string[]): Promise<Map<string, InputFile>>;
  /**
   * What opens those of the paths that the submitter may read now; undefined when the submitter may nothing any more. Throws Problem 503
   * while that cannot be said.
   */
  open(
    submitter: Submitter & { setup: string },
    paths: readonly string[],
  ): Promise<OpenedFile[] | undefined>;
  readonly outputs: OutputStorage;
}

/** Injection token of the InputDataCatalogue. */
export const INPUT_DATA_CATALOGUE = Symbol('InputDataCatalogue');
