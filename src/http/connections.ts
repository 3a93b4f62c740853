import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Problem, Slices } from '#src/kernel/index.js';

const DRAIN_SWEEP_MS = 50;

/** What a connection may do; times in milliseconds. */
export interface ConnectionLimits {
  /** Connections at once; further ones are dropped at once. */
  maxConnections: number;
  /** Within this time a body or an answer under way must move by `leastBytes`. */
  progressMs: number;
  leastBytes: number;
}

/** Called for a request whose body stays away: answers it unless it is answered already. */
export type SlowRequestHandler = (
  problem: Problem,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

/** Why a connection was ended from here. */
export type CutReason = 'slow-body' | 'slow-reader';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** One connection that speaks HTTP: the exchanges under way (pipelined), and the bytes moved when last looked at. */
interface Watched {
  /** Asked for while the connection is open: Node then knows it also when it is gone. */
  address: string | undefined;
  exchanges: Exchange[];
  moved: number;
  since: number;
}

/**
 * Watches the connections of a listener. A client that drips its body, or takes no more of its answer, is cut off
 * however often it sends a byte; idle connections and slow heads are bounded by Node's own time-outs. At the end of
 * the process every connection gets to finish: see `drain`.
 */
export class Connections {
  /** Called for every connection that is cut off. */
  onCut: (reason: CutReason) => void = () => undefined;
  private readonly raw = new Set<Socket>();
  private readonly watched = new Map<Socket, Watched>();
  private readonly sweeping: NodeJS.Timeout;
  private isRetiring = false;

  constructor(
    private readonly server: Server,
    private readonly limits: ConnectionLimits,
    private readonly refuseSlow: SlowRequestHandler,
  ) {
    server.maxConnections = limits.maxConnections;
    // A connection in its TLS handshake is no connection of HTTP yet, but must end with the listener too.
    server.on('connection', (socket: Socket) => {
      this.raw.add(socket);
      socket.once('close', () => this.raw.delete(socket));
    });
    const isTls = server.listenerCount('secureConnection') > 0;
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => this.watch(socket));
    server.prependListener('request', (request, response) => this.begin(request, response));
    this.sweeping = setInterval(() => this.cutSlow(Date.now()), limits.progressMs / 10).unref();
  }

  /** Connections open now, those in a TLS handshake included. */
  get count(): number {
    return this.raw.size;
  }

  /** From now on every answer says `Connection: close`, so that load balancers let their connections go. */
  retire(): void {
    this.isRetiring = true;
  }

  /**
   * Stops accepting and ends every connection without breaking a request: one under way is finished, an idle
   * connection stays open for `idleMs` for a request that is already on its way, and after `graceMs` whatever is
   * left is cut. Resolves when all are closed.
   */
  async drain({ graceMs, idleMs }: { graceMs: number; idleMs: number }): Promise<void> {
    this.retire();
    clearInterval(this.sweeping);
    // Not the HTTP server's own close(): it resets idle connections at once, also those that a load balancer is
    // just sending a request on.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(this.server, resolve));
    for (const watched of this.watched.values()) watched.since = Date.now();
    const sweep = setInterval(() => {
      this.cutSlow(Date.now());
      this.endIdle(Date.now() - idleMs);
    }, DRAIN_SWEEP_MS);
    const cut = setTimeout(() => {
      for (const socket of this.raw) socket.destroy();
    }, graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  }

  private watch(socket: Socket): void {
    const { remoteAddress: address } = socket;
    const watched: Watched = { address, exchanges: [], moved: 0, since: Date.now() };
    this.watched.set(socket, watched);
    socket.once('close', () => {
      this.watched.delete(socket);
      // After Node's own listeners: what they have closed has left the list.
      setImmediate(() => void closeAll(watched.exchanges));
    });
  }

  private begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.isRetiring) response.shouldKeepAlive = false;
    const watched = this.watched.get(request.socket);
    if (!watched) {
      // It was still in the parser when its connection went.
      if (request.socket.destroyed) setImmediate(() => void closeAll([{ request, response }]));
      return;
    }
    if (watched.exchanges.length === 0) {
      watched.moved = movedBytes(request.socket);
      watched.since = Date.now();
    }
    const exchange = { request, response };
    watched.exchanges.push(exchange);
    response.once('close', () => {
      watched.exchanges.splice(watched.exchanges.indexOf(exchange), 1);
      watched.since = Date.now();
    });
  }

  private endIdle(before: number): void {
    for (const [socket, watched] of this.watched) {
      if (watched.exchanges.length > 0) continue;
      const moved = movedBytes(socket);
      if (moved !== watched.moved) {
        watched.moved = moved;
        watched.since = Date.now(); // the head of a request is arriving
      } else if (watched.since <= before) socket.destroySoon();
    }
  }

  private cutSlow(now: number): void {
    for (const [socket, watched] of this.watched) {
      const [current] = watched.exchanges;
      if (!current) continue;
      const waitingFor = peerWaitedFor(socket, watched.exchanges);
      const moved = movedBytes(socket);
      if (waitingFor === undefined || moved - watched.moved >= this.limits.leastBytes) {
        watched.moved = moved;
        watched.since = now;
      } else if (now - watched.since >= this.limits.progressMs) {
        this.onCut(waitingFor);
        this.cut(socket, current);
        watched.since = now;
      }
    }
  }

  private cut(socket: Socket, { request, response }: Exchange): void {
    if (response.headersSent || socket.writableLength > 0) {
      socket.destroy();
      return;
    }
    const options = { headers: { Connection: 'close' } };
    const detail = 'The body of the request did not arrive in time';
    this.refuseSlow(new Problem('request.timeout', detail, options), request, response);
  }
}

/**
 * Closes answers whose connection has gone. Node closes only the one that it was sending: the answers to requests that
 * were pipelined behind it, thousands perhaps, would never end, nor whatever waits for their end.
 */
async function closeAll(exchanges: readonly Exchange[]): Promise<void> {
  const slices = new Slices();
  for (const { response } of [...exchanges]) {
    if (!response.destroyed) {
      response.destroyed = true;
      response.emit('close');
    }
    if (slices.isOver) await slices.rest();
  }
}

/** What the connection waits for at the peer's side, undefined when the next step is ours. */
function peerWaitedFor(socket: Socket, exchanges: Exchange[]): CutReason | undefined {
  if (socket.writableLength > 0) return 'slow-reader';
  const [only, further] = exchanges;
  if (!only || further || only.response.headersSent || only.request.complete) return undefined;
  // Not isPaused(): it is true also for a body that is read by `for await`. What waits here waits in the buffer.
  return only.request.readableLength === 0 ? 'slow-body' : undefined;
}

/** Bytes received, and sent bytes that the system has taken. */
function movedBytes(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten - socket.writableLength;
}
