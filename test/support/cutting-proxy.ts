import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP proxy on loopback whose connections a test cuts. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private isDown = false;
  /** Connections that were cut while something was under way on them. */
  cuts = 0;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(port: number, to: number): Promise<CuttingProxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new CuttingProxy(server, port);
    server.on('connection', (near) => proxy.join(near, to));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** Ends every connection, in the middle of whatever it carries. */
  cut(): void {
    for (const socket of this.sockets) {
      this.cuts += 1;
      socket.resetAndDestroy();
    }
  }

  /** Whether new connections are ended at once. */
  set down(isDown: boolean) {
    this.isDown = isDown;
    if (isDown) this.cut();
  }

  async close(): Promise<void> {
    this.down = true;
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket, port: number): void {
    if (this.isDown) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port, host: 'localhost' });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
