import type { JsonObject } from '#src/kernel/index.js';
import type { OpenedFile } from '../../run/executor.js';
import type { ArrivedOutput, OpenedOutput } from '../../run/run-service.js';

/** A run by its name: `<jid>.<attempt>`. */
export type RunKey = string;

/** Body of `POST /workers/<id>/claims`: what a worker has, and what it would take. */
export interface ClaimRequest {
  /** Grows with every claim of the worker. */
  seq: number;
  /** Runs that it would take now; 0 while it is full, pauses or ends. */
  most: number;
  /** Every run that it has, also those whose end is not written yet. */
  holding: RunKey[];
  /** Those of them that it is ending: it knows that they are not wanted. */
  stopping?: RunKey[] | undefined;
  /** What its runs leave free. */
  free: {
    processors: number;
    ramMB: number;
    gpus?: number | undefined;
    /** Jobs of one processor that it would prepare beyond that, while others run. */
    ahead?: number | undefined;
  };
  /** It knows that it is drained. */
  isDraining?: boolean | undefined;
  /** Why it takes nothing now, as a sentence for people; null when it does. */
  fault?: string | null | undefined;
  /** How long the answer may take while there is nothing to say, seconds. */
  wait: number;
}

/** A run that the worker is to prepare; it starts only after `go`. */
export interface ClaimedRun {
  run: RunKey;
  site: string;
  setup: string;
  owner: string;
  ownerGroup: string;
  /** Seconds of CPU that it may use. */
  cpuTime: number;
  manifest: JsonObject;
  /** Hash of its input sandbox, which `GET /workers/<id>/runs/<run>/input` answers. */
  inputSandbox?: string;
  /** JSON text that tells it where its input data lies. */
  inputData?: string;
  /** Files of the catalogue that are brought to it, which `POST /workers/<id>/runs/<run>/inputs` opens; sizes in bytes. */
  fetched?: { path: string; size: number | bigint }[];
  token?: ClaimedToken;
  /** PATH of the site, and whether its jobs may use the network of the machine. */
  path?: string;
  hasNetwork?: true;
  /** To the service's own worker: what the site declares to have. */
  declared?: { processors?: number | undefined; ramMB?: number | undefined };
}

/** Answer to the question for some of the files that are brought to a run. */
export interface InputsAnswer {
  /** Without those that its submitter may not read any more. */
  files: OpenedFile[];
}

/** Answer of `POST /workers/<id>/runs/<run>/uploads`. */
export interface UploadsAnswer {
  files: OpenedOutput[];
}

/** Answer of `POST /workers/<id>/runs/<run>/arrivals`. */
export interface ArrivalsAnswer {
  files: ArrivedOutput[];
}

/** A token for a job that asked for one. */
export interface ClaimedToken {
  token: string;
  expiresIn: number;
}

/** Answer to a claim. */
export interface ClaimAnswer {
  runs: ClaimedRun[];
  /** Nobody waits for these any more: to be ended and then reported as `ended`. */
  stop: RunKey[];
  /** These are not the worker's any more: to be ended and removed, without a report. */
  forget: RunKey[];
  /** Somebody waits for bytes of what these runs write: to be answered by `POST /workers/<id>/reads`. */
  reads?: OutputRead[];
  /** The worker gets no runs any more, and ends when it has none. */
  isDrained: boolean;
  /** The service ends, and its own worker gives back what it has not begun. */
  isEnding?: true;
}

/** A question for bytes of a file of the output of a run. */
export interface OutputRead {
  id: string;
  run: RunKey;
  /** Of the file, as the job has it. */
  name: string;
  /** The first byte; less than nothing counts from the end of the file. */
  start: number;
  mostBytes: number;
}

/** The answer to it. */
export interface OutputReadAnswer {
  id: string;
  /** Left out: there is no such file. */
  part?: {
    sizeBytes: number;
    /** Changes when the job puts another file in its place. */
    file: string;
    /** Milliseconds since 1970. */
    modifiedMs: number;
    /** Where `content` begins in the file. */
    start: number;
    /** Base64. */
    content: string;
  };
}

/** What became of a run, in `POST /workers/<id>/reports`. */
export type RunReport = { run: RunKey } & (
  | { kind: 'starting' }
  | EndedReport
  | { kind: 'returned'; reason?: string; isOfMachine?: boolean }
  | { kind: 'refused'; minor: string; app: string }
  | { kind: 'lost'; app: string }
);

/** Its program has ended. Durations are the worker's, times the service's. */
export interface EndedReport {
  kind: 'ended';
  /** Undefined: it ended well. */
  failure?: { minor: string; app?: string };
  /** From the start of the program to its end; undefined: it was never started. */
  wallSeconds?: number;
  cpuSeconds?: number;
  maxRssBytes?: number;
  /** MB that it was given. */
  memoryMb?: number;
  exitCode?: number;
  host?: string;
  isolation?: string;
  diskMB?: number;
  /** What was wanted and is missing or was left out, what was made and not asked for. */
  missing?: string;
  leftOut?: string;
  notRequested?: string;
  /** Its output: a tar.gz of at most 64 KiB, base64; or `put`: the one that was put before. */
  output?: { archive: string } | { put: true };
  /** Why the output is not whole. */
  outputFault?: string;
  /** Of a job that stores files: they are to be stored now, or that is over. */
  storing?: 'begins' | 'is over';
  /** Why not all are stored. */
  storingFault?: string;
}

/** Answer to one report; a report without an answer is to be repeated. */
export interface ReportAnswer {
  run: RunKey;
  /** The program may start now. */
  go?: true;
  /** Its files are to be stored now; then its end is reported again. */
  store?: true;
  /** Written, or no longer waited for: the worker removes the run. */
  forget?: true;
}
