import { jest } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

/** So much time passes in a turn of the loop. */
const STEP_MS = 10;

/** Answers one request of a local server. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of a test, on a port of its own. */
export interface LocalServer {
  port: number;
  /** The URL of a path, by the host's name or address. */
  url(path: string, host?: string): string;
  /** Requests that arrived, as `GET /path`. */
  requests: string[];
  /** Sockets that were opened. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts an HTTP server, or an HTTPS server when TLS options are given. */
export async function startServer(handler: Handler, tls?: ServerOptions): Promise<LocalServer> {
  const requests: string[] = [];
  const listener: Handler = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handler(request, response);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const listening = await listen(server);
  const scheme = tls ? 'https' : 'http';
  const url = (path: string, host = 'localhost'): string =>
    `${scheme}://${host}:${listening.port}${path}`;
  return { ...listening, url, requests };
}

/** Listens on all loopback addresses and knows its sockets, so that closing leaves none. */
export async function listen(
  server: NetServer,
): Promise<Pick<LocalServer, 'port' | 'connections' | 'close'>> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, connections: () => opened, close };
}

/** Answers with what was received, as JSON. */
export function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    const body = Buffer.concat(chunks).toString();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, body }));
  });
}

/** What `echo` answers. */
export interface Echo {
  method: string;
  url: string;
  headers: Record<string, string | undefined>;
  body: string;
}

/** Waits until a condition holds, at most 25 seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 25_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('the condition does not come true');
    await nextTurn();
  }
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Where time passes when a test says so; sockets go on as they are. */
export function holdTime(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
}

/** Lets held time pass until the promise has failed: the error, and the milliseconds until it came. */
export async function failureInTime(
  promise: Promise<unknown>,
): Promise<{ error: unknown; passedMs: number }> {
  const results: { error: unknown }[] = [];
  promise.then(
    () => results.push({ error: undefined }),
    (error: unknown) => results.push({ error }),
  );
  for (let passedMs = 0; ; passedMs += STEP_MS) {
    await nextTurn();
    if (results[0]) return { ...results[0], passedMs };
    jest.advanceTimersByTime(STEP_MS);
  }
}
