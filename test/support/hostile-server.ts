import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestPki } from './id-provider-pki.js';

/** What the server saw of one request. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers one request in any way it likes. */
export type Behaviour = (request: SeenRequest, response: ServerResponse) => void;

/** An HTTPS server whose paths behave as a test says. */
export interface HostileServer {
  origin: string;
  /** Every request, in order. */
  seen: SeenRequest[];
  /** Behaviour by path; a later one replaces the earlier. */
  on(path: string, behaviour: Behaviour): void;
  /** Answers JSON at a path. */
  json(path: string, value: unknown, status?: number, headers?: Record<string, string>): void;
  /** The requests to a path. */
  requestsTo(path: string): SeenRequest[];
  /** Forgets all requests and behaviours. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts the server on a free port of this machine. */
export async function startHostileServer(pki: TestPki): Promise<HostileServer> {
  const behaviours = new Map<string, Behaviour>();
  const seen: SeenRequest[] = [];
  const server = createServer(
    { cert: pki.server.cert, key: pki.server.key },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '/', headers } = request;
        const record = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
        seen.push(record);
        const behaviour = behaviours.get(url.split('?')[0] ?? '');
        if (behaviour === undefined) response.writeHead(404).end('nothing here');
        else behaviour(record, response);
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hostile: HostileServer = {
    origin: `https://localhost:${port}`,
    seen,
    on: (path, behaviour) => void behaviours.set(path, behaviour),
    json: (path, value, status = 200, headers = {}) =>
      hostile.on(path, (_request, response) => {
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
        response.end(JSON.stringify(value));
      }),
    requestsTo: (path) => seen.filter((request) => request.path.split('?')[0] === path),
    reset: () => {
      seen.length = 0;
      behaviours.clear();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hostile;
}
