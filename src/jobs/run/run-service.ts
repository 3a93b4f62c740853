import type { Readable } from 'node:stream';
import type { ArchiveFile } from '../sandbox/sandbox-archive.js';
import type { FileDigests, OpenedFile, RunLeft, RunOrder, StoragePlace } from './executor.js';
import type { RunInputs } from './input-data.js';
import type { JobToken } from './job-tokens.js';
import type { RunUsage } from './run-usage.js';

/** When a run begins, and what the batch system calls it. */
export interface RunStart {
  startedAt: Date;
  from: ('Matched' | 'Stalled')[];
  reference?: string | undefined;
}

/** False: the program may not be started any more. An end of the permission is in seconds of /proc/uptime. */
export type StartPermission = boolean | { untilSeconds: number };

/** How the program of a run ended, and what it left. */
export interface RunResult {
  /** Undefined: it ended well. */
  failure?: { minor: string; app?: string | undefined } | undefined;
  endedAt: Date;
  /** Undefined: nobody measured it. */
  usage: RunUsage | undefined;
  /** What is told of the run beside what it used: host, exit code, what was not brought back. */
  parameters: Record<string, string | number>;
  /** Hash of its output sandbox. */
  output?: string | undefined;
  /** Why the output is not whole: the job fails with it, though its program ended well. */
  outputFault?: string | undefined;
  /** Of a job that stores files: they are to be stored, they are, or why they cannot be. */
  storing?: 'begins' | 'is over' | { fault: string } | undefined;
}

/** A file that a run stores, by its name in the directory of the job. */
export interface NewOutput extends FileDigests {
  name: string;
  failed: readonly string[];
}

/** That a file has arrived; that its element is away; or why it is not what it is to be. */
export interface ArrivedOutput {
  name: string;
  away?: string;
  fault?: string;
}

/** Where it goes. */
export type OpenedOutput = { name: string } & StoragePlace;

/** What a site gives its jobs. */
export interface RunSite {
  /** Where programs are looked for, directories joined by `:`; undefined: SITE_PATH. */
  path?: string | undefined;
  /** Its jobs may use the network of their machine. */
  hasNetwork: boolean;
  /** What it declares to have. */
  declared?: { processors?: number | undefined; ramMB?: number | undefined };
}

/** Why a run comes back that was certainly not started. */
export interface RunReturn {
  reason?: string | undefined;
  /** It comes back by a fault of the machine, which the job is not to blame for: it does so however often. */
  isOfMachine?: boolean;
}

/**
 * The service, as who runs jobs sees it. Each report of a run counts only while the job is held by this executor in this attempt,
 * so that one that comes twice, or too late, changes nothing. All reject with Problem `service.unavailable` while the service or its
 * database is away; when a report resolves it is written, or nobody waits for it any more.
 */
export interface RunService {
  /** Asks for the permission to start, or notes that a batch system has started it; false when it is not wanted any more. */
  starting(run: RunOrder, start: RunStart): Promise<StartPermission>;
  /** Its program has ended and its output is kept. True: its files are to be stored now, and then it has ended. */
  ended(run: RunOrder, result: RunResult): Promise<boolean>;
  /** Certainly not started: back to the queue, without counting as a reschedule, also when it was stalled. */
  returned(run: RunOrder, back: RunReturn): Promise<void>;
  /** The same for one that nobody had begun a moment ago; false when it was begun since then, and nothing has changed. */
  returnedUnstarted(run: RunOrder): Promise<boolean>;
  /** It was not started and never will be: the job fails. */
  refused(run: RunOrder, fault: { minor: string; app: string }): Promise<void>;
  /** Nobody can say whether it ran: the job fails. */
  missing(run: RunOrder, app: string): Promise<void>;
  /** Nobody waits for it, and it is over: what it left may still be had of a killed job. */
  released(run: RunOrder, left?: RunLeft): Promise<void>;
  /** A stalled job shows a sign of life; true when it was stalled. */
  resumed(run: RunOrder): Promise<boolean>;

  /** Packs and keeps the output of a run that has ended; answers its hash. Rejects with other errors when it cannot be packed. */
  keepOutput(run: RunOrder, files: readonly ArchiveFile[]): Promise<string>;
  /** The archive of the input sandbox of a run that has one. Rejects with SandboxMissingError when it is not in the store. */
  openInput(run: RunOrder): Promise<Readable>;
  /** What it is told of its input data and what is brought to it; undefined for one without. Rejects with RunFault when a file is gone. */
  inputs(run: RunOrder): Promise<RunInputs | undefined>;
  /** What opens some of the files that are brought to it. Rejects with RunFault when its submitter has no right to anything any more. */
  openFetched(run: RunOrder, paths: readonly string[], signal?: AbortSignal): Promise<OpenedFile[]>;
  /** Where files go that it stores, and what lets them in. */
  openOutputs(
    run: RunOrder,
    files: readonly NewOutput[],
    signal?: AbortSignal,
  ): Promise<OpenedOutput[]>;
  /** Has those looked at that were written; answers what is wrong with some. */
  arrivedOutputs(
    run: RunOrder,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<ArrivedOutput[]>;
  /** A token for a job that asked for one. Rejects with RunFault when its submitter has no right to it any more. */
  token(run: RunOrder): Promise<JobToken | undefined>;
  /** What the site of a run gives its jobs now. */
  siteOf(run: RunOrder): Promise<RunSite>;
}
