import { expect, it } from '@jest/globals';
import type { LoggedEvent } from './event-log.repository.js';
import type { EventLog } from './event-log.js';
import { Feed } from './feed.js';

/** A log of `last` events whose end is told only when the test lets it. */
function slowLog(last: number) {
  const nothing = (): void => undefined;
  const log = { last, asked: 0, answer: nothing, news: nothing };
  const eventOf = (position: number): LoggedEvent => ({ position, event: [], row: [[]], index: 0 });
  const parts: Pick<EventLog, 'latest' | 'read' | 'onNews'> = {
    latest: () => {
      log.asked += 1;
      return new Promise((resolve) => (log.answer = () => resolve(log.last)));
    },
    read: (_source, after, limit) => {
      const count = Math.min(limit, log.last - after);
      const events = Array.from({ length: count }, (_, index) => eventOf(after + 1 + index));
      return Promise.resolve({ events, upto: after + count });
    },
    onNews: (_source, listener) => ((log.news = listener), nothing),
  };
  return { log, parts: parts as EventLog };
}

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
