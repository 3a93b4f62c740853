import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes connections on, whatever is in them. */
export interface TcpBalancer {
  port: number;
  close(): Promise<void>;
}

/** Opens one that gives connections to these ports of this machine in turn, and to the next one when one refuses. */
export async function openTcpBalancer(ports: readonly number[]): Promise<TcpBalancer> {
  let turn = 0;
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client.on('close', () => clients.delete(client)));
    turn = (turn + 1) % ports.length;
    passOn(client, [...ports.slice(turn), ...ports.slice(0, turn)]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const client of clients) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function passOn(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const instance = connect(port, '127.0.0.1');
  const refused = (): void => passOn(client, others);
  instance.once('error', refused);
  instance.once('connect', () => {
    instance.off('error', refused).on('error', () => client.destroy());
    instance.on('close', () => client.destroy());
    client.on('error', () => instance.destroy()).on('close', () => instance.destroy());
    client.pipe(instance).pipe(client);
  });
}
