/**
 * A process with many servers, so that the modules of the service are loaded once for all suites of a jest worker: a connection
 * to its unix socket is a server with a home, database, port and log of its own. Lines of JSON: the client sends its environment
 * and gets {url} or {fault}, then {log} for what it writes; {"stop":true} is answered by {stopped}. A connection that ends
 * stops its server.
 */
import 'reflect-metadata';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const { GridServer } = await import('#src/app/server.js');
const { ConfigurationFault, readConfig } = await import('#src/config/env.js');
const { reservePort } = await import('#src/http/listener.js');

const [, , socketPath] = process.argv;

class HostedServer {
  #server;
  #stopped;
  #held = '';

  constructor(socket) {
    this.socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      const { environment } = JSON.parse(line);
      if (environment) this.start(environment).then((url) => this.tell({ url }), this.fail);
      else this.stop().then(() => this.tell({ stopped: true }), this.fail);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => void this.stop().catch(() => undefined));
  }

  async start(environment) {
    const env = { ...process.env, ...environment };
    let config = readConfig(env);
    if (config.port === 0) {
      config = readConfig({ ...env, GRID_PORT: String(await reservePort(config.host)) });
    }
    this.#server = new GridServer(config, 0, this);
    await this.#server.start();
    return config.publicUrl;
  }

  stop() {
    this.#stopped ??= this.#server?.stop();
    return Promise.resolve(this.#stopped);
  }

  /** Lines of one turn of the event loop go together. */
  write(line) {
    if (this.#held === '') setImmediate(() => this.#flush());
    this.#held += line;
  }

  #flush() {
    this.tell({ log: this.#held });
    this.#held = '';
  }

  tell(message) {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** Says what main.ts says, when all that has been opened is closed again. */
  fail = async (error) => {
    await this.stop().catch(() => undefined);
    const lines = error instanceof ConfigurationFault ? error.faults : [error.message];
    this.#flush();
    this.tell({ fault: lines.map((line) => `gridgate: ${line}\n`).join('') });
  };
}

createServer((socket) => new HostedServer(socket)).listen(socketPath, () => process.send('ready'));
process.on('disconnect', () => process.exit());
