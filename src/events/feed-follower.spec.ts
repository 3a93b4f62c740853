import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { BoundedQueue } from '#src/kernel/index.js';
import type { HttpResponse } from '#src/http/messages.js';
import type { Feed } from './feed.js';
import { FeedFollower } from './feed-follower.js';
import { LINES_TYPE, wireOf } from './feed-wire.js';

/** More than a piece of 64 Ki characters. */
const LONG = 'x'.repeat(1_000);
const EVENTS = Array.from({ length: 150 }, (_, index) => ({ position: index + 1 }));

const FEED = {
  onNews: () => () => undefined,
  latest: () => Promise.resolve(0),
  read: ({ position }: { position: number }, limit: number) => {
    const events = EVENTS.slice(position, position + limit);
    return Promise.resolve({ events, upto: events.at(-1)?.position ?? position });
  },
} as unknown as Feed<{ position: number }>;

function pagesOf(permits: number): BoundedQueue {
  const refusal = (reason: string): Error => new Error(reason);
  return new BoundedQueue({ permits, maxWaiting: 10, maxWaitMs: () => 60_000, refusal });
}

/** Streams all events into an answer whose client takes a piece when it is let. */
function streamTo(pages: BoundedQueue, client = new AbortController()) {
  const takes: (() => void)[] = [];
  const pieces: string[] = [];
  const answer = new Writable({
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, taken) => {
      pieces.push(String(piece));
      takes.push(taken);
    },
  });
  const { signal } = client;
  const rights = () => Promise.resolve(() => ({ event: 'job', data: JSON.stringify(LONG) }));
  const follower = new FeedFollower({ feed: FEED, from: { position: 0 }, rights, pages, signal });
  const ended = follower
    .open()
    .then(() =>
      follower.stream(answer as unknown as HttpResponse, wireOf(LINES_TYPE)).catch(() => undefined),
    );
  return { pieces, ended, leave: () => client.abort(), take: () => takes.shift()?.() };
}

async function settled(): Promise<void> {
  for (let pass = 0; pass < 20; pass += 1) await new Promise((resolve) => setImmediate(resolve));
}

it('a stream whose client does not read keeps other streams of its user waiting, and those of nobody else', async () => {
  const pages = pagesOf(1);
  const [slow, waiting, other] = [streamTo(pages), streamTo(pages), streamTo(pagesOf(1))];
  await settled();
  expect([slow, waiting, other].map(({ pieces }) => pieces.length)).toEqual([1, 0, 1]);
  slow.leave();
  await slow.ended;
  await settled();
  expect([slow.pieces.length, waiting.pieces.length]).toEqual([1, 1]);
  for (const one of [waiting, other]) one.leave();
  await Promise.all([waiting.ended, other.ended]);
  expect(pages.running).toBe(0);
});

it('events are sent in pieces, the next one when the client has taken the one before', async () => {
  const { pieces, ended, leave, take } = streamTo(pagesOf(1));
  const counts: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await settled();
    counts.push(pieces.length);
    take();
  }
  expect(counts).toEqual([1, 2, 3, 3]);
  expect(pieces.join('').split('\n').length - 1).toBe(EVENTS.length);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(67_000);
  leave();
  await ended;
});
