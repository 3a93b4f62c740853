import { parseJson } from '#src/kernel/json.js';
import type { JobResponse, JobEventsResponse } from './generated/schemas.js';
import type { ListJobsQuery } from './generated/operations.js';
import { GridError } from './grid-error.js';
import type { CallOptions, OperationRequest } from './request/operation-request.js';
import { linesOf } from './request/lines.js';

/** Which jobs are watched: the filters of a list. */
export type WatchedJobs = Omit<ListJobsQuery, 'maxJobs' | 'startJob' | 'sort' | 'after'>;

type JobEvent = JobEventsResponse['events'][number];

/** What a watcher learns. */
export type JobChange =
  /** A page of the list. With `isFirst` everything that was known before is forgotten: it is listed anew. */
  | { kind: 'list'; isFirst: boolean; jobs: JobResponse[] }
  /** A job has moved, and is on the list; `left`: it is not on the list any more. */
  | { kind: 'job' | 'left'; job: JobEvent['data'] };

/** How it is watched. */
export interface WatchOptions extends CallOptions {
  /** Go on behind this position, without a list: that of an earlier watch. */
  after?: string;
  /** Called with the position behind each change that was taken, for another watch to go on from. */
  onPosition?: (position: string) => void;
}

/** The part of the client that a watch needs. */
export interface Caller {
  raw(
    request: OperationRequest,
    options: CallOptions,
  ): Promise<{ answer: Response; next: string | undefined }>;
  list(path: string, query: object, options: CallOptions): Promise<JobPage>;
}

/** A page of a list with its position. */
export interface JobPage {
  jobs: JobResponse[];
  next: string | undefined;
  position: string;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The service says every 15 seconds that it lives. */
const SILENCE_MS = 45_000;

/** Lists, watches, goes on after each interruption, and lists again when the service has forgotten where it was. */
export class JobWatch {
  private position: string | undefined;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(
    private readonly caller: Caller,
    private readonly query: WatchedJobs,
    private readonly options: WatchOptions,
  ) {
    this.position = options.after;
  }

  /** All changes, until the caller stops. Throws GridError for what trying again does not help. */
  async *changes(): AsyncGenerator<JobChange> {
    for (;;) {
      try {
        if (this.position === undefined) yield* this.list();
        else yield* this.follow(this.position);
      } catch (error) {
        await this.recover(error);
      }
    }
  }

  private async *list(): AsyncGenerator<JobChange> {
    let page = await this.caller.list('/jobs', { ...this.query, maxJobs: 1_000 }, this.options);
    const { position } = page;
    for (let isFirst = true; ; isFirst = false) {
      yield { kind: 'list', isFirst, jobs: page.jobs };
      if (page.next === undefined) break;
      page = await this.caller.list(page.next, {}, this.options);
    }
    this.moveTo(position);
  }

  private async *follow(after: string): AsyncGenerator<JobChange> {
    const silence = new AbortController();
    const { signal = new AbortController().signal, headers } = this.options;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    };
    heard();
    try {
      const { answer } = await this.caller.raw(
        { method: 'GET', path: '/jobs/events', query: { ...this.query, after }, answer: 'json' },
        {
          headers: { ...headers, Accept: 'application/x-ndjson' },
          signal: AbortSignal.any([signal, silence.signal]),
        },
      );
      for await (const line of linesOf(answer, { heard })) {
        this.pauseMs = FIRST_PAUSE_MS;
        const { id, event, data } = parseJson(line) as unknown as JobEvent;
        if (event === 'job' || event === 'left') yield { kind: event, job: data };
        if (id !== undefined) this.moveTo(id);
      }
    } finally {
      clearTimeout(timer);
    }
    // The service has ended it: it stops, or the token is no good any more, which the next call tells.
    await this.pause(0);
  }

  private moveTo(position: string): void {
    this.position = position;
    this.options.onPosition?.(position);
  }

  private async recover(error: unknown): Promise<void> {
    this.options.signal?.throwIfAborted();
    if (error instanceof GridError && error.status === 410) {
      this.position = undefined;
      return;
    }
    const isPassing =
      !(error instanceof GridError) ||
      error.status === 0 ||
      error.status === 429 ||
      (error.status >= 500 && error.status !== 501);
    if (!isPassing) throw error;
    await this.pause(error instanceof GridError ? (error.retryAfter ?? 0) * 1_000 : 0);
  }

  /** Longer each time in vain, and never the same for two watchers. */
  private async pause(leastMs: number): Promise<void> {
    const pauseMs = Math.max(leastMs, this.pauseMs * (0.5 + Math.random()));
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    const { signal } = this.options;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, pauseMs);
      signal?.addEventListener('abort', end, { once: true });
    });
    signal?.throwIfAborted();
  }
}
