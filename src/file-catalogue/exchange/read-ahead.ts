import { PassThrough } from 'node:stream';
import { Slices } from '#src/kernel/index.js';
import { ClientDisconnected, refuseEncoding, type HttpRequest } from '#src/http/index.js';

/** Bytes that are read ahead of one body, and of all. */
const AHEAD_BYTES = 4 * 1024 * 1024;
const MAX_BODIES = 8;
/** What is handed on at once, as of a connection. */
const PIECE_BYTES = 64 * 1024;
let bodies = 0;

/**
 * What arrives of the body, read up to 4 MiB ahead of whoever takes it (at most eight bodies at once; others as they are
 * taken). A paused connection tells nothing: that its client has gone is known only when everything is read that it has
 * sent. Who stops taking leaves the rest unread and the connection whole. Throws ClientDisconnected, and Problem 415 for a content
 * encoding.
 */
export async function* arrivingAhead(request: HttpRequest): AsyncGenerator<Buffer> {
  refuseEncoding(request);
  if (request.destroyed && !request.readableEnded) throw new ClientDisconnected();
  const isAhead = bodies < MAX_BODIES;
  const ahead = new PassThrough(isAhead ? { readableHighWaterMark: AHEAD_BYTES } : {});
  const leave = (): void => {
    if (!request.readableEnded) ahead.destroy(new ClientDisconnected());
  };
  request.once('close', leave).pipe(ahead);
  bodies += Number(isAhead);
  try {
    const slices = new Slices();
    for await (const read of ahead as AsyncIterable<Buffer>) {
      // What is read ahead comes in one piece.
      for (let at = 0; at < read.length; at += PIECE_BYTES) {
        yield read.subarray(at, at + PIECE_BYTES);
        if (slices.isOver) await slices.rest();
      }
    }
  } finally {
    bodies -= Number(isAhead);
    request.off('close', leave).unpipe(ahead);
    ahead.destroy();
  }
}
