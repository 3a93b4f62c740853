import type { Server } from 'node:http';
import { createServer } from 'node:net';

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
    server.listen({ host: at.host, port: at.port, backlog: 1024 }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/** A port of the address that is free now. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
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
