import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Passes connections to ports of this machine, whatever is in them, until a test cuts them. */
export class TcpProxy {
  /** Connections that were cut. */
  cuts = 0;
  private readonly sockets = new Set<Socket>();
  private isDown = false;
  private turn = 0;

  private constructor(
    private readonly server: Server,
    private readonly ports: readonly number[],
  ) {}

  /** Gives connections to these ports in turn, and to the next one when one refuses. Its own port is any free one unless told. */
  static async start(ports: readonly number[], own = 0): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new TcpProxy(server, ports);
    server.on('connection', (client) => proxy.accept(client));
    await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
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
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.isDown) {
      client.resetAndDestroy();
      return;
    }
    const { ports } = this;
    this.turn = (this.turn + 1) % ports.length;
    this.passOn(client, [...ports.slice(this.turn), ...ports.slice(0, this.turn)]);
  }

  private passOn(client: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      client.destroy();
      return;
    }
    const instance = connect(port, 'localhost');
    const refused = (): void => this.passOn(client, others);
    instance.once('error', refused);
    instance.once('connect', () => {
      instance.off('error', refused).on('error', () => undefined);
      this.join(client, instance);
      this.join(instance, client);
    });
  }

  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.pipe(to);
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
