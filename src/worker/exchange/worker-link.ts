import { isJsonObject, parseJson, Problem } from '#src/kernel/index.js';
import type { WorkerFacts } from '#src/jobs/index.js';

const TOO_MANY = 429;
const [TIMEOUT, TOO_LARGE] = [408, 413];
/** Codes of the service's problems. */
const CODE = /^[a-z]+\.[a-z-]+$/;

/** An answer, or a part of one, that has not come after so long does not come any more. */
export const SILENCE_SECONDS = 60;

/** Version of what a worker and the service say to each other. */
export const PROTOCOL = 1;

/** What a worker says of itself. */
export interface WorkerWords {
  name: string;
  version: string;
  facts: WorkerFacts;
}

/** What may go with a request. */
export interface LinkOptions {
  json?: object;
  /** The body, and how it is made again when the request has to be made again. */
  data?: () => Uint8Array | AsyncIterable<Uint8Array>;
  /** The body of the answer is not read. */
  stream?: boolean;
  /** So long may the answer take, where that is known. */
  silenceSeconds?: number;
  signal?: AbortSignal;
}

/** An answer of the service that is one; its body rejects with Problem `service.unavailable` when it is cut. */
export interface LinkAnswer {
  body: AsyncIterable<Uint8Array>;
}

/**
 * A worker's way to the service. Requests go below `/workers/<its id>/` and reject with Problem `service.unavailable` while the service
 * cannot be reached or says that it is busy, with WorkerGoneError when it does not know the worker any more, and with RefusedError for
 * any other answer that is none. What something on the way refuses, but for what is too large, says nothing about the worker and its
 * runs: the service is away.
 */
export interface WorkerLink {
  readonly id: string;
  /** So long may the worker be silent before the service takes back what it has not begun. */
  readonly leaseSeconds: number;
  /** The number of its next claim. */
  nextClaim(): Promise<number>;
  request(method: string, path: string, options?: LinkOptions): Promise<LinkAnswer>;
  /** The JSON of the answer; numbers are exact. */
  json<T extends object>(method: string, path: string, options?: LinkOptions): Promise<T>;
  /** True when a worker without a program that runs has nobody to wait for. */
  isOver(): boolean;
  /** The worker ends for good. */
  leave(signal: AbortSignal): Promise<void>;
  /** The worker is none any more. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** The service has refused a request for good, or something on the way to it has. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    /** Its code of the list of problems; empty for an answer that was not the service's. */
    readonly code: string,
    readonly detail: string,
  ) {
    super(detail);
    this.name = 'RefusedError';
  }
}

/** The service does not know the worker any more: it was revoked, or silent for too long. */
export class WorkerGoneError extends Error {
  constructor() {
    super('The service does not know this worker any more');
    this.name = 'WorkerGoneError';
  }
}

/** A worker that cannot begin, with what to do. */
export class WorkerStartError extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'WorkerStartError';
  }
}

/** What an answer with a status of 300 or more means. */
export function refusalOf(answer: {
  status: number;
  text: string;
  retryAfter: string | null | undefined;
}): RefusedError | Problem {
  const { status } = answer;
  const { code = '', detail = `The answer has status ${status}` } = jsonObject(answer.text) ?? {};
  if (status < 500 && status !== TOO_MANY) {
    return new RefusedError(status, String(code), String(detail));
  }
  const seconds = Number(answer.retryAfter);
  return Problem.unavailable(String(detail), {
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : 0,
  });
}

/** The object of an answer. What is none is the answer of something on the way: throws Problem `service.unavailable`. */
export function requireObject<T extends object>(text: string): T {
  const found = jsonObject(text);
  if (found) return found as T;
  throw Problem.unavailable('The answer is none of the service', { retryAfterSeconds: 0 });
}

/** A refusal as what it says to the worker. */
export function meaningOf(error: unknown): unknown {
  if (isGone(error)) return new WorkerGoneError();
  if (!(error instanceof RefusedError)) return error;
  const { status, code } = error;
  const isOnTheWay = (!CODE.test(code) || code === 'route.not-found') && status !== TOO_LARGE;
  if (!isOnTheWay && status !== TIMEOUT) return error;
  return Problem.unavailable(error.detail, { retryAfterSeconds: 0, cause: error });
}

/** True when it says that there is no such worker. */
export function isGone(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'worker.not-found';
}

/** A cut connection is a service that is away, and not an archive with a fault. */
export async function* connected(
  body: AsyncIterable<Uint8Array>,
  awayFrom: (cause: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    const cause = awayFrom(error);
    throw cause instanceof Problem ? cause : Problem.unavailable('The input ends early', { cause });
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const body = parseJson(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined; // no JSON, or cut
  }
}
