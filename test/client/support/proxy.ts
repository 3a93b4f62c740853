import { createServer, request as forward, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from './local-server.js';

/** A forwarding and tunnelling proxy of a test. */
export interface LocalProxy {
  port: number;
  url(userinfo?: string): string;
  /** What it was asked: `CONNECT host:port` or `GET http://…`, with its Proxy-Authorization. */
  seen: { line: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** Starts a proxy; with `credentials` (`user:password`) it answers 407 to everybody else. */
export async function startProxy(credentials?: string): Promise<LocalProxy> {
  const seen: LocalProxy['seen'] = [];
  const expected =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const admits = (request: IncomingMessage): boolean => {
    const authorization = request.headers['proxy-authorization'];
    seen.push({ line: `${request.method} ${request.url}`, authorization });
    return expected === undefined || authorization === expected;
  };
  const tunnels = new Set<Socket>();
  const server = createServer((request, response) => {
    if (!admits(request)) {
      response.writeHead(407).end('credentials needed');
      return;
    }
    const { method, headers } = request;
    const onward = forward(request.url ?? '', { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    if (!admits(request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const [host, port] = (request.url ?? '').split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    tunnels.add(target);
    for (const end of [socket, target]) end.on('error', () => end.destroy());
    target.on('close', () => {
      tunnels.delete(target);
      socket.destroy();
    });
    socket.on('close', () => target.destroy());
  });
  const { port, close } = await listen(server);
  return {
    port,
    seen,
    url: (userinfo) => `http://${userinfo ? `${userinfo}@` : ''}127.0.0.1:${port}`,
    close: async () => {
      for (const target of tunnels) target.destroy();
      await close();
    },
  };
}
