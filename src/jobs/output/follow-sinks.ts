import { isUtf8 } from 'node:buffer';
import { disposition, plainName, sendPiece, type HttpResponse } from '#src/http/index.js';
import type { JobState } from '../state/job-state.js';

/** Why nothing more is sent. */
export interface FollowEnd {
  reason: 'job ended' | 'not allowed any more';
  status?: JobState;
}

/** A place in the output of a job: its run, and the byte of the file. */
export interface OutputPosition {
  attempt: number;
  position: number;
}

/** How followed output is sent. */
export interface FollowSink {
  /** Bytes of the file, and where they begin. */
  send(content: Buffer, from: OutputPosition): Promise<void>;
  /** The file begins anew: another run of the job, or the job has replaced or emptied it. */
  restart(attempt: number): Promise<void>;
  /** Nothing came for a while. */
  rest(): Promise<void>;
  /** Nothing more comes. */
  end(end: FollowEnd): Promise<void>;
  /** The service cannot go on: whoever follows may ask again, here or elsewhere. */
  breakOff(): void;
}

/** The bytes as they are. A body that is not whole is told by the transfer coding: it is cut, never ended. */
export class PlainSink implements FollowSink {
  constructor(
    private readonly response: HttpResponse,
    name: string,
  ) {
    response.setHeader('Content-Disposition', disposition(plainName(name)));
    begin(response, 'application/octet-stream');
  }

  async send(content: Buffer): Promise<void> {
    await sendPiece(this.response, content);
  }

  restart(): Promise<void> {
    return Promise.resolve();
  }

  rest(): Promise<void> {
    return Promise.resolve();
  }

  end({ reason }: FollowEnd): Promise<void> {
    if (reason === 'job ended') this.response.end();
    else this.response.destroy();
    return Promise.resolve();
  }

  breakOff(): void {
    this.response.destroy();
  }
}

/**
 * Server-sent events: `output` with the text (and the bytes, where they are no UTF-8), `restart`, and `end`. The id of
 * an event is the run and the byte behind its text, by which `Last-Event-ID` goes on; a character that has not come
 * whole waits for its rest.
 */
export class EventSink implements FollowSink {
  private cut = Buffer.alloc(0);

  constructor(private readonly response: HttpResponse) {
    begin(response, 'text/event-stream');
  }

  async send(content: Buffer, { attempt, position }: OutputPosition): Promise<void> {
    const bytes = Buffer.concat([this.cut, content]);
    const length = wholeCharacters(bytes);
    this.cut = bytes.subarray(length);
    if (length === 0) return;
    const next = { attempt, position: position + content.length - this.cut.length };
    await this.event('output', outputData(bytes.subarray(0, length)), next);
  }

  async restart(attempt: number): Promise<void> {
    await this.flush();
    await this.event('restart', { attempt }, { attempt, position: 0 });
  }

  async rest(): Promise<void> {
    await sendPiece(this.response, ': nothing new\n\n');
  }

  async end(end: FollowEnd): Promise<void> {
    await this.flush();
    await this.event('end', end);
    this.response.end();
  }

  breakOff(): void {
    this.response.end();
  }

  /** What is left of a character that never came whole. */
  private async flush(): Promise<void> {
    const bytes = this.cut;
    this.cut = Buffer.alloc(0);
    if (bytes.length > 0) await this.event('output', outputData(bytes));
  }

  private async event(name: string, data: object, at?: OutputPosition): Promise<void> {
    const id = at ? `id: ${at.attempt}.${at.position}\n` : '';
    await sendPiece(this.response, `${id}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

/** What an event says of the bytes: their text, with U+FFFD for what is no UTF-8, and then the bytes beside it. */
export function outputData(bytes: Buffer): { text: string; base64?: string } {
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? { text } : { text, base64: bytes.toString('base64') };
}

/** How many of the bytes are whole characters of UTF-8; what is no UTF-8 at all counts as whole. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // inside of a character
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function begin(response: HttpResponse, contentType: string): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('X-Accel-Buffering', 'no'); // nginx would gather what is to be seen at once
  response.flushHeaders();
}
