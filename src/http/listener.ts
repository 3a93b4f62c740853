import type { Server } from 'node:http';
import { createServer, type Server as Reservation } from 'node:net';

/** What `reservePort` keeps until it is listened on, by `host:port`. */
const reservations = new Map<string, Reservation>();

const BACKLOG = 1024;

/** The listen address cannot be used; the message says why and what to do. */
export class ListenError extends Error {}

/** Where to listen; `variable` is the one that sets the port (GRID_PORT when not said). */
export interface ListenAt {
  host: string;
  port: number;
  variable?: string;
}

/** Listens, or rejects with a message that names port, address and cause. */
export function listen(server: Server, at: ListenAt): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(explain(error, at));
    server.once('error', onError);
    const listening = (): void => {
      server.off('error', onError);
      resolve();
    };
    const key = `${at.host}:${at.port}`;
    const reserved = reservations.get(key);
    // The handle is the reservation's, which keeps no process alive; a server does.
    if (reservations.delete(key)) server.listen(reserved, BACKLOG, listening).ref();
    else server.listen({ host: at.host, port: at.port, backlog: BACKLOG }, listening);
  });
}

/** A free port of the address, kept for the `listen` that follows: nobody can take it between the two. */
export function reservePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const reservation = createServer((socket) => socket.destroy());
    reservation.once('error', reject);
    reservation.listen(0, host, () => {
      const address = reservation.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      reservations.set(`${host}:${port}`, reservation.unref());
      resolve(port);
    });
  });
}

function explain(error: NodeJS.ErrnoException, at: ListenAt): Error {
  const where = `${at.host}:${at.port}`;
  const variable = at.variable ?? 'GRID_PORT';
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${at.port} on ${at.host} is in use: stop the other program or set ${variable}`,
    EACCES: `no right to listen on ${where}: choose a port above 1023 with ${variable}`,
    EADDRNOTAVAIL: `${at.host} is no address of this machine: set GRID_HOST`,
    ENOTFOUND: `the host name ${at.host} is unknown: set GRID_HOST`,
  };
  const text = reasons[error.code ?? ''] ?? `cannot listen on ${where}: ${error.message}`;
  return new ListenError(text, { cause: error });
}
