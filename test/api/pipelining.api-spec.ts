import { once } from 'node:events';
import { connect } from 'node:tls';
import { startGrid, type Grid } from '../support/testbed.js';

const REQUESTS = 400;

describe('requests that are pipelined', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
  });
  afterAll(() => grid?.remove());

  // That they hold up nobody is seen by the stall guard of the run.
  it('are each answered, in order, hundreds in one piece too', async () => {
    const port = Number(new URL(grid.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: grid.ca });
    await once(socket, 'secureConnect');
    const pieces: string[] = [];
    socket.setEncoding('latin1').on('data', (piece: string) => pieces.push(piece));
    const head = (index: number): string => `GET /jobs/x${index} HTTP/1.1\r\nHost: localhost\r\n`;
    const heads = Array.from({ length: REQUESTS }, (_, index) => head(index));
    socket.write(`${heads.join('\r\n')}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    const text = pieces.join('');
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
    expect(statuses).toEqual(Array.from({ length: REQUESTS }, () => '401'));
    const ids = [...text.matchAll(/X-Request-Id: (\S+)/gi)].map(([, id]) => id);
    const instances = [...text.matchAll(/urn:gridgate:request:([\w-]+)/g)].map(([, id]) => id);
    expect([new Set(ids).size, instances]).toEqual([REQUESTS, ids]);
  });
});
