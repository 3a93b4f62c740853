import { Worker } from 'node:worker_threads';
import type { WatchAnswers, WatchQuestion } from './watch-messages.js';

const HEAP_MIB = 128;

interface Pending {
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
}

/** Asks the thread that looks at jobs; starts it when needed, and anew when it has ended. */
export class Watcher {
  private worker: Worker | undefined;
  private readonly pending = new Map<number, Pending>();
  private last = 0;

  /** Rejects when the thread ends before it has answered. */
  async ask<Kind extends WatchQuestion['kind']>(
    question: Extract<WatchQuestion, { kind: Kind }>,
  ): Promise<WatchAnswers[Kind]> {
    const worker = (this.worker ??= this.start());
    this.last += 1;
    const id = this.last;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      worker.postMessage({ id, question });
    });
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./watcher.worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      env: {},
    });
    worker.unref();
    worker.on('message', (message: { id: number; answer?: never; fault?: string }) => {
      const waiting = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (message.fault === undefined) waiting?.resolve(message.answer as never);
      else waiting?.reject(new Error(message.fault));
    });
    const end = (error?: Error): void => {
      if (this.worker === worker) this.worker = undefined;
      const fault = error ?? new Error('the thread that looks at jobs has ended');
      for (const { reject } of this.pending.values()) reject(fault);
      this.pending.clear();
    };
    worker.once('error', end);
    worker.once('exit', () => end());
    return worker;
  }
}
