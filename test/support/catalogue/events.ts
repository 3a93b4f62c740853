import { expect } from '@jest/globals';
import { routes } from './http-catalogue.js';
import { eventually, type GridClient } from '../testbed.js';

export const EVENTS = '/filecatalogue/events';
const NDJSON = 'application/x-ndjson';

/** An event in short: what, path, change, and where it was. */
export type Short = [event: string, path: string, change: string, from?: string];

/** An event as it is told. */
export interface ToldEvent {
  id: string;
  event: string;
  data: { path: string; change: string; from?: string };
}

/** The event without its position. */
export function short({
  event,
  data: { path, change, from },
}: Pick<ToldEvent, 'event' | 'data'>): Short {
  return from === undefined ? [event, path, change] : [event, path, change, from];
}

/** Changes things by a bulk of which no line may fail. */
export async function bulk(client: GridClient, ...lines: object[]): Promise<void> {
  const answer = await client.post<string>('/filecatalogue/bulk', {
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
    headers: { 'content-type': NDJSON },
  });
  expect([answer.status, answer.bytes.toString()]).toEqual([
    200,
    expect.stringContaining('"failed":0'),
  ]);
}

/** Where the feed stands, told by a list. */
export async function position(client: GridClient): Promise<string> {
  const { headers } = await client.get(routes.directory('/'));
  return String(headers['grid-feed-position']);
}

/** What there is behind a position. */
export async function poll(
  client: GridClient,
  after: string,
  query = '',
): Promise<{ events: ToldEvent[]; position: string }> {
  const { status, body } = await client.get(`${EVENTS}?wait=0&after=${after}${query}`);
  expect(status).toBe(200);
  return body;
}

/** Polls, on from where the poll before it ended, until the path is told of. */
export async function pollUntil(
  client: GridClient,
  after: string,
  path: string,
): Promise<{ events: ToldEvent[]; position: string }> {
  const body: Awaited<ReturnType<typeof poll>> = { events: [], position: after };
  await eventually(async () => {
    const next = await poll(client, body.position);
    body.events.push(...next.events);
    body.position = next.position;
    return next.events.some(({ data }) => data.path === path);
  }, path);
  return body;
}

/** Polls on until there is nothing more. */
async function pollAll(client: GridClient, after: string, query: string): Promise<ToldEvent[]> {
  const events: ToldEvent[] = [];
  for (let [at, last] = [after, '']; at !== last;) {
    const next = await poll(client, at, query);
    events.push(...next.events);
    [at, last] = [next.position, at];
  }
  return events;
}

/** Everything that `reader` is told since the position; a change that `writer` makes tells when it is all. */
export async function since(
  writer: GridClient,
  after: string,
  { query = '', reader = writer } = {},
): Promise<Short[]> {
  const end = `/vo/end${Math.random()}`;
  await bulk(writer, { kind: 'file', path: end, size: 1 });
  await pollUntil(writer, after, end);
  const events = await pollAll(reader, after, query);
  return events.map(short).filter(([, path]) => !path.startsWith('/vo/end'));
}
