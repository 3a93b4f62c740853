import { EventEmitter, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DiskUse } from './disk-use.js';
import type { RunTraces } from './run-members.js';

const HEAP_MIB = 128;
const ENDED = 'the thread that looks at jobs has ended';

/** A run that is to be looked at. */
export interface WatchedRun extends RunTraces {
  name: string;
  directories: readonly string[];
  files: readonly string[];
  /**
   * How it is kept apart, and so what it has beside its directories: a `/dev/shm` of its own at `namespaces`; at `accounts` what its
   * account has where everybody may write. Nobody can tell at `none`.
   */
  level: 'namespaces' | 'accounts' | 'none';
}

/** What a run uses. */
export interface RunUse {
  processes: number;
  cpuSeconds: number;
  rssBytes: number;
  /** As of the last whole look; undefined before it. */
  disk: DiskUse | undefined;
  /** A process of it has open files that the service may not see, at two looks. */
  isHiding: boolean;
}

/** What the watcher is asked. */
export type WatchQuestion =
  | { kind: 'look'; runs: readonly WatchedRun[]; maxEntries: number }
  | { kind: 'end'; run: string; traces: RunTraces; timeoutMs: number }
  | { kind: 'orphans'; directory: string; alive: readonly string[] };

/** What it answers: uses by the name of the run; whether nothing is left; how many orphaned processes were killed. */
export interface WatchAnswers {
  look: Record<string, RunUse>;
  end: boolean;
  orphans: number;
}

/** An answer, or why there is none. */
export type WatchReply<Kind extends keyof WatchAnswers = keyof WatchAnswers> =
  { answer: WatchAnswers[Kind] } | { fault: string };

/** Asks the thread that looks at jobs; starts it when needed, and anew when it has ended. */
export class Watcher {
  private worker: Worker | undefined;
  /** Answers by the number of their question; `error` when no more will come. */
  private readonly answers = new EventEmitter().setMaxListeners(0).on('error', () => undefined);
  private last = 0;
  private isClosed = false;

  /** Rejects when the thread ends before it has answered, and after `close`. */
  async ask<Kind extends WatchQuestion['kind']>(
    question: Extract<WatchQuestion, { kind: Kind }>,
  ): Promise<WatchAnswers[Kind]> {
    if (this.isClosed) throw new Error(ENDED);
    const worker = (this.worker ??= this.start());
    this.last += 1;
    const id = this.last;
    const answered = once(this.answers, String(id)) as Promise<[WatchReply<Kind>]>;
    worker.postMessage({ id, question });
    const [reply] = await answered;
    if ('answer' in reply) return reply.answer;
    throw new Error(reply.fault);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./watcher.worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      env: {},
    });
    worker.unref();
    worker.on('message', ({ id, reply }: { id: number; reply: object }) => {
      this.answers.emit(String(id), reply);
    });
    const end = (error: Error): void => {
      if (this.worker !== worker) return;
      this.worker = undefined;
      this.answers.emit('error', error);
    };
    worker.once('error', end);
    worker.once('exit', () => end(new Error(ENDED)));
    return worker;
  }
}
