import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { randomId } from '#src/kernel/index.js';
import type { ArrivalsAnswer, InputsAnswer, RunReport, UploadsAnswer } from '#src/jobs/index.js';
import {
  type ArchiveFile,
  type ArrivedOutput,
  type JobToken,
  MINOR,
  pathFault,
  shownName,
  type NewArchive,
  type NewOutput,
  type OpenedFile,
  type OpenedOutput,
  packArchive,
  RunFault,
  type RunInputs,
  type RunLeft,
  type RunOrder,
  type RunResult,
  type RunReturn,
  type RunService,
  type RunSite,
  SandboxMissingError,
} from '#src/jobs/run/index.js';
import { untilAnswered } from './retry.js';
import type { ClaimedOrder } from './run-order.js';
import { runName } from '../runs/run-directory.js';
import { type Answered, type RunReportBox } from './run-reports.js';
import { RefusedError, type WorkerLink } from './worker-link.js';

/** Outputs of up to so many bytes go with the report of the end. */
const SMALL_BYTES = 64 * 1024;
const MOST_TEXT = 255;
const MOST_NAMES = 32 * 1024;
const NOT_FOUND = 404;

/** How the output of a run reaches the service. */
type Output = { archive: string } | { put: true };
/** What of a report is about the run. */
type Members<R> = R extends { run: string } ? Omit<R, 'run'> : never;

/** What the service for the runs of a worker works with. */
export interface RemoteParts {
  /** The way to the service, once the worker is known there. */
  link: () => WorkerLink;
  /** Reports that ask for the permission to start, and all others: those may wait for their outputs to be kept. */
  starts: RunReportBox;
  ends: RunReportBox;
  /** Directory for archives on their way. */
  spool: string;
  /** Jobs of sites that give them the network may have that of this machine. */
  allowsNetwork: boolean;
  /** Seconds of a clock that goes on while the machine sleeps. */
  secondsOfBoot: () => number;
  signal: AbortSignal;
}

/**
 * The service over HTTPS, as the runs of a worker see it: what becomes of them is reported until it is answered, however long the
 * service is away. Of a run that is not the worker's any more nothing is reported.
 */
export class RemoteRunService implements RunService {
  private readonly forgotten = new Map<RunOrder, () => void>();
  private readonly isForgotten = new WeakSet<RunOrder>();
  private readonly outputs = new WeakMap<RunOrder, Output>();
  private readonly leftOut = new WeakMap<RunOrder, string[]>();
  private readonly withToken = new WeakSet<RunOrder>();

  constructor(private readonly parts: RemoteParts) {}

  /** The run is not the worker's any more: whatever waits for an answer about it goes on. */
  forget(run: RunOrder): void {
    this.isForgotten.add(run);
    this.forgotten.get(run)?.();
  }

  /**
   * The permission holds for the lease from the moment at which it was asked for, by a clock that goes on while the machine sleeps: an
   * answer that comes later, or to who slept, is none.
   */
  async starting(run: RunOrder): Promise<false | { untilSeconds: number }> {
    const { starts, link, secondsOfBoot } = this.parts;
    for (;;) {
      const { go, sentAt } = await this.report(run, { kind: 'starting' }, starts);
      if (!go) return false;
      const untilSeconds = sentAt + link().leaseSeconds;
      if (secondsOfBoot() < untilSeconds) return { untilSeconds };
    }
  }

  async ended(
    run: RunOrder,
    { failure, usage, parameters, outputFault, storing }: RunResult,
  ): Promise<boolean> {
    const text = (name: string, most = MOST_TEXT): string | undefined =>
      clipped(parameters[name]?.toString(), most);
    const number = (name: string): number | undefined =>
      typeof parameters[name] === 'number' ? parameters[name] : undefined;
    const { store = false } = await this.report(run, {
      kind: 'ended',
      ...defined({
        failure: failure && {
          minor: failure.minor,
          ...defined({ app: clipped(failure.app) }),
        },
        ...{ wallSeconds: usage?.wallSeconds, cpuSeconds: usage?.cpuSeconds },
        ...{ maxRssBytes: usage?.maxRssBytes, memoryMb: usage?.memoryMb },
        ...{ exitCode: number('ExitCode'), diskMB: number('DiskSpace(MB)') },
        ...{ host: text('HostName'), isolation: text('Isolation') },
        missing: text('MissingOutput', MOST_NAMES),
        leftOut: clipped(this.leftOutOf(run, parameters), MOST_NAMES),
        notRequested: text('OutputNotRequested', MOST_NAMES),
        ...{ output: this.outputs.get(run), outputFault: clipped(outputFault) },
        storing: typeof storing === 'object' ? ('is over' as const) : storing,
        storingFault: typeof storing === 'object' ? clipped(storing.fault) : undefined,
      }),
    });
    return store;
  }

  async returned(run: RunOrder, { reason, isOfMachine }: RunReturn): Promise<void> {
    const members = defined({ reason: clipped(reason), isOfMachine });
    await this.report(run, { kind: 'returned', ...members });
  }

  async returnedUnstarted(run: RunOrder): Promise<boolean> {
    await this.returned(run, {});
    return true;
  }

  async refused(run: RunOrder, { minor, app }: { minor: string; app: string }): Promise<void> {
    await this.report(run, { kind: 'refused', minor, app: clipped(app) });
  }

  async missing(run: RunOrder, app: string): Promise<void> {
    await this.report(run, { kind: 'lost', app: clipped(app) });
  }

  async released(run: RunOrder, { use }: RunLeft = {}): Promise<void> {
    const output = this.outputs.get(run);
    await this.report(run, {
      kind: 'ended',
      ...defined({ wallSeconds: use?.wallSeconds, cpuSeconds: use?.cpuSeconds, output }),
    });
  }

  /** The claims of the worker are the sign of life. */
  resumed(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async keepOutput(run: RunOrder, files: readonly ArchiveFile[]): Promise<string> {
    const path = join(this.parts.spool, `out-${randomId()}`);
    try {
      const archive = await packArchive(this.sent(run, files), path);
      const { hash } = archive;
      if (this.isForgotten.has(run)) return hash;
      if ('content' in archive && archive.sizeBytes <= SMALL_BYTES) {
        this.outputs.set(run, { archive: archive.content.toString('base64') });
      } else if (await this.put(run, archive)) this.outputs.set(run, { put: true });
      return hash;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Without files whose names the service takes in no archive: one of them would be the loss of all. */
  private sent(run: RunOrder, files: readonly ArchiveFile[]): ArchiveFile[] {
    const bad: string[] = [];
    const sent = files.filter(({ name, content }) => {
      const target = 'linkTo' in content && content.linkTo !== '.' ? content.linkTo : undefined;
      const fault = pathFault(name) ?? (target === undefined ? undefined : pathFault(target));
      if (fault !== undefined) bad.push(`${shownName(name)} (its name ${fault})`);
      return fault === undefined;
    });
    if (bad.length > 0) this.leftOut.set(run, bad);
    return sent;
  }

  private leftOutOf(run: RunOrder, parameters: RunResult['parameters']): string | undefined {
    const all = [parameters['OutputLeftOut'] ?? [], this.leftOut.get(run) ?? []].flat();
    return all.length === 0 ? undefined : all.join(', ');
  }

  async openInput(run: RunOrder): Promise<Readable> {
    const { link, signal } = this.parts;
    try {
      const path = `/runs/${runName(run)}/input`;
      const answer = await link().request('GET', path, { stream: true, signal });
      return Readable.from(compared(answer.body, run.inputSandbox));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== NOT_FOUND) throw error;
      throw new SandboxMissingError(run.inputSandbox ?? '');
    }
  }

  inputs(run: RunOrder): Promise<RunInputs> {
    const { inputData: text, fetched = [] } = (run as ClaimedOrder).claimed;
    return Promise.resolve({ text, fetched });
  }

  async openFetched(
    run: RunOrder,
    paths: readonly string[],
    signal = this.parts.signal,
  ): Promise<OpenedFile[]> {
    return (await this.ask<InputsAnswer>(run, 'inputs', { paths }, signal)).files;
  }

  async openOutputs(
    run: RunOrder,
    files: readonly NewOutput[],
    signal = this.parts.signal,
  ): Promise<OpenedOutput[]> {
    const wanted = files.map(({ name, size, adler32, sha256, md5, failed }) => {
      return { name, size, adler32, sha256, ...(md5 !== undefined && { md5 }), failed };
    });
    return (await this.ask<UploadsAnswer>(run, 'uploads', { files: wanted }, signal)).files;
  }

  async arrivedOutputs(
    run: RunOrder,
    names: readonly string[],
    signal = this.parts.signal,
  ): Promise<ArrivedOutput[]> {
    return (await this.ask<ArrivalsAnswer>(run, 'arrivals', { names }, signal)).files;
  }

  private ask<T extends object>(
    run: RunOrder,
    what: string,
    json: object,
    signal: AbortSignal,
  ): Promise<T> {
    const path = `/runs/${runName(run)}/${what}`;
    const ask = () => this.parts.link().json<T>('POST', path, { json, signal });
    return untilAnswered(ask, signal);
  }

  /** The first came with the run. */
  async token(run: RunOrder): Promise<JobToken | undefined> {
    const { token: given } = (run as ClaimedOrder).claimed;
    const isKept = 'boot' in run; // its order was read from the disk, where no token is
    if (!given && !isKept) return undefined;
    const first = this.withToken.has(run) ? undefined : given;
    this.withToken.add(run);
    const path = `/runs/${runName(run)}/token`;
    const { token, expiresIn } =
      first ?? (await this.parts.link().json<NonNullable<typeof given>>('POST', path));
    return { token, expiresInSeconds: expiresIn };
  }

  siteOf(run: RunOrder): Promise<RunSite> {
    const { path, hasNetwork = false } = (run as ClaimedOrder).claimed;
    return Promise.resolve({ path, hasNetwork: hasNetwork && this.parts.allowsNetwork });
  }

  private async report(
    run: RunOrder,
    members: Members<RunReport>,
    box = this.parts.ends,
  ): Promise<Answered> {
    const nothing: Answered = { run: runName(run), forget: true, sentAt: 0 };
    if (this.isForgotten.has(run)) return nothing;
    const report = { run: runName(run), ...members };
    return new Promise<Answered>((resolve, reject) => {
      this.forgotten.set(run, () => resolve(nothing));
      box.send(report).then(resolve, reject);
    }).finally(() => this.forgotten.delete(run));
  }

  /** True when the service has it, false when the run is not the worker's any more. Throws RunFault for one that is refused. */
  private async put(run: RunOrder, archive: NewArchive): Promise<boolean> {
    const { link, signal } = this.parts;
    const data = (): Uint8Array | AsyncIterable<Uint8Array> =>
      'content' in archive ? archive.content : createReadStream(archive.path);
    try {
      await untilAnswered(async () => {
        if (this.isForgotten.has(run)) return;
        await link().request('PUT', `/runs/${runName(run)}/output`, { data, signal });
      }, signal);
      return !this.isForgotten.has(run);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.status === NOT_FOUND) return false;
      throw new RunFault(MINOR.uploadingOutput, `The output is refused: ${error.detail}`, {
        cause: error,
      });
    }
  }
}

/** Cut, but no character in halves, which no JSON may have. */
function clipped<T extends string | undefined>(text: T, most = MOST_TEXT): T {
  return (text && Buffer.from(text.slice(0, most)).toString()) as T;
}

/** Without members that are undefined. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The same bytes; at their end it throws Error when they are not those of this SHA-256: the store has others. */
async function* compared(
  body: AsyncIterable<Uint8Array>,
  wanted: string | null,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== wanted) throw new Error('The input sandbox has other content');
}
