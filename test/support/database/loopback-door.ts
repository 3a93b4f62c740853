import { connect, createServer, type AddressInfo } from 'node:net';

/** A way to the tests' database over loopback, for a service whose account may not open its socket. */
export interface LoopbackDoor {
  /** The URL of a database, through the door. */
  through: (url: string) => string;
  close(): Promise<void>;
}

/** Opens it for a database URL of a Unix socket; one that is spoken to over TCP needs no door and keeps its URL. */
export async function openLoopbackDoor(url: string): Promise<LoopbackDoor> {
  const host = /@(%2F[^:/]*):(\d+)\//.exec(url);
  if (host === null) return { through: (other) => other, close: () => Promise.resolve() };
  const [where, directory = '', port = ''] = host;
  const server = createServer((client) => {
    const database = connect(`${decodeURIComponent(directory)}/.s.PGSQL.${port}`);
    client.on('error', () => database.destroy()).on('close', () => database.destroy());
    database.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(database).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const door = server.address() as AddressInfo;
  return {
    through: (other) => other.replace(where, `@127.0.0.1:${door.port}/`),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
