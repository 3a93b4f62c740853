import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { listen, ListenError, reservePort } from './listener.js';

const HOST = '127.0.0.1';
const open: Server[] = [];

function server(): Server {
  const made = createServer((_request, response) => response.end('here'));
  open.push(made);
  return made;
}

describe('a reserved port', () => {
  afterEach(async () => {
    const listening = open.splice(0).filter((each) => each.listening);
    await Promise.all(listening.map((each) => once(each.close(), 'close')));
  });

  it('is nobody else’s until it is listened on', async () => {
    const port = await reservePort(HOST);
    const other = createServer();
    const refused = once(other, 'error');
    other.listen(port, HOST);
    expect((await refused)[0]).toMatchObject({ code: 'EADDRINUSE', port });
    await listen(server(), { host: HOST, port });
    expect(await (await fetch(`http://${HOST}:${port}/`)).text()).toBe('here');
  });

  it('is given once: who listens on it next is refused by name', async () => {
    const port = await reservePort(HOST);
    await listen(server(), { host: HOST, port });
    const again = listen(server(), { host: HOST, port, variable: 'GRID_METRICS_PORT' });
    const error: unknown = await again.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ListenError);
    expect(String(error)).toBe(
      `Error: port ${port} on ${HOST} is in use: stop the other program or set GRID_METRICS_PORT`,
    );
  });

  it('keeps the process alive once it is listened on', async () => {
    const port = await reservePort(HOST);
    const made = server();
    await listen(made, { host: HOST, port });
    const { _handle: handle } = made as unknown as { _handle: { hasRef(): boolean } };
    expect(handle.hasRef()).toBe(true);
  });

  it('is free again after the end of who listened', async () => {
    const port = await reservePort(HOST);
    const first = server();
    await listen(first, { host: HOST, port });
    await once(first.close(), 'close');
    await listen(server(), { host: HOST, port });
    expect(await (await fetch(`http://${HOST}:${port}/`)).text()).toBe('here');
  });
});
