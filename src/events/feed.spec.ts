import { expect, it } from '@jest/globals';
import type { LoggedEvent } from './event-log.repository.js';
import type { EventLog } from './event-log.js';
import { Feed } from './feed.js';

/** A log of `last` events whose end is told only when the test lets it. */
function slowLog(last: number) {
  const nothing = (): void => undefined;
  const log = { last, asked: 0, answer: nothing, news: nothing };
  const eventOf = (position: number): LoggedEvent => ({ position, event: [], row: [[]], index: 0 });
  const parts: Pick<EventLog, 'latest' | 'read' | 'readBehind' | 'onNews'> = {
    latest: () => {
      log.asked += 1;
      return new Promise((resolve) => (log.answer = () => resolve(log.last)));
    },
    read: (_source, after, limit) => {
      const count = Math.min(limit, log.last - after);
      const events = Array.from({ length: count }, (_, index) => eventOf(after + 1 + index));
      return Promise.resolve({ events, upto: after + count });
    },
    readBehind: (read) => read(),
    onNews: (_source, listener) => ((log.news = listener), nothing),
  };
  return { log, parts: parts as EventLog };
}

it('who reads at news waits for the read that is under way, and not for those after it', async () => {
  const { log, parts } = slowLog(7);
  const under: (() => void)[] = [];
  const read: EventLog['read'] = async (...asked) => {
    await new Promise<void>((resolve) => under.push(resolve));
    return parts.read(...asked);
  };
  const feed = new Feed({ ...parts, read } as EventLog, 'jobs', (events) =>
    Promise.resolve([...events]),
  );
  feed.onNews(() => undefined);
  log.answer();
  await new Promise(setImmediate);
  under[0]?.(); // nothing is there yet
  await new Promise(setImmediate);
  log.last = 2000;
  log.news();
  const page = feed.read({ position: 7 }, 2);
  under[1]?.();
  const waiting = new Promise(setImmediate).then(() => 'waits for more');
  const found = await Promise.race([page, waiting]);
  expect(found).toEqual({
    events: [expect.objectContaining({ position: 8 }), expect.objectContaining({ position: 9 })],
    upto: 9,
  });
  expect(under.length).toBe(3);
});

it('events are read from the log after the last watcher has left while the first read was under way', async () => {
  const { log, parts } = slowLog(7);
  const feed = new Feed(parts, 'jobs', (events) => Promise.resolve([...events]));
  const leave = feed.onNews(() => undefined);
  expect(log.asked).toBe(1);
  leave();
  log.answer();
  await new Promise(setImmediate);
  log.last = 8;
  const { events, upto } = await feed.read({ position: 7 }, 10);
  expect([events.map(({ position }) => position), upto]).toEqual([[8], 8]);
});

it('who reads at news is given what a watcher is about to be told', async () => {
  const { log, parts } = slowLog(7);
  const feed = new Feed(parts, 'jobs', (events) => Promise.resolve([...events]));
  feed.onNews(() => undefined)();
  feed.onNews(() => undefined); // comes while the one before it leaves
  log.answer();
  await new Promise(setImmediate);
  log.last = 8;
  log.news();
  const { events, upto } = await feed.read({ position: 7 }, 10);
  expect([events.map(({ position }) => position), upto]).toEqual([[8], 8]);
});
