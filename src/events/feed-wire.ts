import { once } from 'node:events';
import { stringifyJson } from '#src/kernel/index.js';
import type { HttpResponse } from '#src/http/index.js';

/** An event as it is sent. */
export interface SentEvent {
  /** Position behind it; not there for an end. */
  id?: string;
  event: string;
  /** JSON. */
  data: string;
}

/** How a stream of events is written. */
export interface FeedWire {
  type: string;
  /** What is sent first, where the position is news to the client and where it is the one that it has named. */
  begin(id: string, isNews: boolean): string;
  event(event: SentEvent): string;
  /** Says that the connection lives. */
  comment: string;
}

/** Milliseconds after which browsers connect again. */
const RETRY_MS = 2_000;

/** Media types of feeds, the usual one first. */
export const SSE_TYPE = 'text/event-stream';
export const LINES_TYPE = 'application/x-ndjson';

/** Server-sent events (WHATWG HTML 9.2). */
const SSE: FeedWire = {
  type: SSE_TYPE,
  begin: (id) => `retry: ${RETRY_MS}\nid: ${id}\n\n`,
  event: ({ id, event, data }) =>
    `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`,
  comment: ': alive\n\n',
};

/** One JSON object in a line; an empty line says nothing. */
const LINES: FeedWire = {
  type: LINES_TYPE,
  begin: (id, isNews) => `${isNews ? lineOf(positionEvent(id)) : ''}\n`,
  event: (event) => `${lineOf(event)}\n`,
  comment: '\n',
};

/** The way of writing for a media type. */
export function wireOf(type: string): FeedWire {
  return type === LINES_TYPE ? LINES : SSE;
}

/** Says how far the feed goes without anything to tell. */
export function positionEvent(id: string): SentEvent {
  return { id, event: 'position', data: `{"position":"${id}"}` };
}

/** An event as a JSON object: `{"id", "event", "data"}`. */
export function lineOf({ id, event, data }: SentEvent): string {
  const before = id === undefined ? '' : `"id":${stringifyJson(id)},`;
  return `{${before}"event":${stringifyJson(event)},"data":${data}}`;
}

/** Sends text; resolves when the client can take more. Throws when it is gone. */
export async function sendPiece(
  response: HttpResponse,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  if (response.write(text)) return;
  await once(response, 'drain', { signal });
}
