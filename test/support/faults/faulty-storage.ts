import type { IncomingMessage, ServerResponse } from 'node:http';
import { adlerOf, KeepingStorage } from '../storage/keeping-storage.js';

/** What a storage may do wrong and still take the file a little later, when it is asked again. */
export const PASSING_FAULTS = ['away', 'slow', 'busy', 'cuts', 'mute'] as const;
/** What makes it lose a file to the next storage. */
export const REFUSING_FAULTS = [
  'full',
  'half',
  'nothing',
  'lies',
  'blind',
  'hangs',
  'ended',
] as const;

export type StorageFault =
  | (typeof PASSING_FAULTS)[number]
  /** Answers 507, keeps half; answers 201, keeps half, or nothing; tells wrong checksums; answers 500 to HEAD; lets DELETE wait, does it later; takes tokens for over, in the middle of a file. */
  | (typeof REFUSING_FAULTS)[number];

/** Of the answer to a file. */
const STATUS_OF: Readonly<Record<string, number>> = { full: 507, ended: 401 };
const DRIP_MS = 250;
/** A look takes up to so long: one file after the other, in any order. */
const SLOW_MS = 3_000;
const DRIP_BYTES = 32_768;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * A storage that keeps what is put as a file system does: the name is there from the first byte on, a part stays when its sender goes, and
 * what is written to a name that was removed meanwhile goes nowhere. It has one fault at a time.
 */
export class FaultyStorage extends KeepingStorage {
  private fault: StorageFault | undefined;
  private lateMs = 0;
  private readonly late = new Set<Promise<void>>();

  constructor(readonly name: string) {
    super();
    this.play((response, request) => {
      this.asked.length = 0; // nobody looks at them
      this.take(response, request).catch(() => response.destroy());
    });
  }

  /** The fault; undefined when it is well. */
  get has(): StorageFault | undefined {
    return this.fault;
  }

  /** From now on it has the fault; what hangs is done after so long. */
  begin(fault: StorageFault, lateMs: number): void {
    Object.assign(this, { fault, lateMs });
    this.digestOf = fault === 'lies' ? () => '0badbeef' : adlerOf;
  }

  heal(): void {
    this.fault = undefined;
    this.digestOf = adlerOf;
  }

  /** Resolves when nothing is to be done later any more. */
  async settled(): Promise<void> {
    while (this.late.size > 0) await Promise.all(this.late);
  }

  private async take(response: ServerResponse, request: IncomingMessage): Promise<void> {
    const { fault } = this;
    const { method, url = '' } = request;
    if (fault === 'away') return void response.destroy();
    if (method === 'PUT') return this.put(response, request);
    if (method === 'HEAD' && fault === 'busy') return void response.writeHead(503).end();
    if (method === 'HEAD' && fault === 'blind') return void response.writeHead(500).end();
    if (method === 'HEAD' && fault === 'slow') await pause(SLOW_MS * Math.random());
    if (method === 'GET' && fault === 'ended') return void response.writeHead(401).end();
    if (method === 'GET' && fault === 'slow') return this.drip(response, request);
    if (method === 'DELETE' && fault === 'hangs' && this.opens(request, 'modify')) {
      const work = pause(this.lateMs).then(() => {
        this.kept.delete(url);
        response.destroy();
        this.late.delete(work);
      });
      this.late.add(work);
      return;
    }
    this.keep(response, request);
  }

  private async put(response: ServerResponse, request: IncomingMessage): Promise<void> {
    const { fault } = this;
    const { url = '', headers } = request;
    if (!this.opens(request, 'create') || this.kept.has(url)) {
      request.resume();
      return void response.writeHead(403).end();
    }
    const half = Math.floor(Number(headers['content-length']) / 2);
    let mine: Buffer = Buffer.alloc(0);
    this.kept.set(url, mine);
    const keep = (bytes: Buffer): void => {
      if (this.kept.get(url) === mine) this.kept.set(url, bytes);
      mine = bytes;
    };
    for await (const piece of request) {
      keep(Buffer.concat([mine, piece as Buffer]));
      if (fault === 'slow') await pause(DRIP_MS);
      if (fault === 'cuts' && mine.length >= half) break;
    }
    if (fault === 'cuts' || fault === 'mute') return void response.destroy();
    if (fault === 'half' || fault === 'full' || fault === 'ended') keep(mine.subarray(0, half));
    if (fault === 'nothing' && this.kept.get(url) === mine) this.kept.delete(url);
    response.writeHead(STATUS_OF[fault ?? ''] ?? 201).end();
  }

  private async drip(response: ServerResponse, request: IncomingMessage): Promise<void> {
    const bytes = this.kept.get(request.url ?? '');
    if (!bytes || !this.opens(request, 'read')) return this.keep(response, request);
    response.setHeader('Content-Length', bytes.length);
    for (let from = 0; from < bytes.length && !response.destroyed; from += DRIP_BYTES) {
      response.write(bytes.subarray(from, from + DRIP_BYTES));
      await pause(DRIP_MS);
    }
    response.end();
  }
}
