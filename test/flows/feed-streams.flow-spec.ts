import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const QUIET_MS = 20_000;

/** A connection with a feed on it, as somebody has it who writes HTTP by hand. */
class RawWatcher {
  text = '';

  private constructor(readonly socket: TLSSocket) {
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (piece: string) => (this.text += piece));
  }

  static async open(
    grid: Grid,
    token: string,
    path: string,
    headers: string[] = [],
  ): Promise<RawWatcher> {
    const port = Number(new URL(grid.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: grid.ca });
    const watcher = new RawWatcher(socket);
    await once(socket, 'secureConnect');
    const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`];
    socket.write([...lines, ...headers, '', ''].join('\r\n'));
    return watcher;
  }

  async until(part: string, patienceMs?: number): Promise<void> {
    await eventually(() => Promise.resolve(this.text.includes(part)), part, patienceMs);
  }
}

describe('streams of events', () => {
  let grid: Grid;
  let token: string;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    token = (await grid.as('alice')).token ?? '';
  });
  afterAll(() => grid?.remove());

  const open = async (): Promise<number> => {
    const { bytes } = await grid.anonymous.get('/metrics');
    return Number(/^gridgate_feed_streams (\d+)$/m.exec(bytes.toString('utf8'))?.[1]);
  };

  it('say every 15 seconds that they live, and are compressed for nobody', async () => {
    const asked = ['Accept-Encoding: gzip, br'];
    const lines = [...asked, 'Accept: application/x-ndjson'];
    const watchers = [
      await RawWatcher.open(grid, token, '/jobs/events', asked),
      await RawWatcher.open(grid, token, '/filecatalogue/events', asked),
      await RawWatcher.open(grid, token, '/jobs/events', lines),
    ];
    const [jobs, catalogue, asLines] = watchers as [RawWatcher, RawWatcher, RawWatcher];
    await jobs.until('\r\n: alive\n\n\r\n', QUIET_MS);
    await catalogue.until('\r\n: alive\n\n\r\n', QUIET_MS);
    await asLines.until('\r\n\n\r\n1\r\n\n\r\n', QUIET_MS);
    for (const { text, socket } of watchers) {
      expect(text).not.toMatch(/content-encoding/i);
      socket.destroy();
    }
    await eventually(async () => (await open()) === 0, 'the streams to be over');
  });
});
