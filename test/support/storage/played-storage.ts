import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, type JWTPayload } from 'jose';

type Play = (response: ServerResponse, request: IncomingMessage) => void;

/** A storage in this process that has one text at every address, or does with each request as it is told; it keeps what it was asked. */
export class PlayedStorage {
  readonly asked: IncomingMessage[] = [];
  /** What it says of the checksum of the text to who wants to know. */
  adler32: string | undefined;
  answer: Play;
  private readonly server: Server = createServer((request, response) => {
    this.asked.push(request);
    this.answer(response, request);
  });

  constructor(private readonly text: string) {
    this.answer = this.serve;
  }

  /** Its address. */
  get origin(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** The claims of the tokens that it got. */
  get claims(): JWTPayload[] {
    return this.asked.flatMap(({ headers }) => {
      const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
      return token === undefined ? [] : [decodeJwt(token)];
    });
  }

  get scopes(): unknown[] {
    return this.claims.map(({ scope }) => scope);
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `${this.origin}/vo`;
  }

  /** From now on it does so; left out: it has its text. What it was asked is forgotten. */
  play(answer: Play = this.serve): void {
    this.asked.length = 0;
    this.answer = answer;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** The text, or the part of it that is asked for. */
  readonly serve: Play = (response, { method, headers }) => {
    if (method === 'DELETE') return response.writeHead(204).end();
    const whole = Buffer.from(this.text);
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const part = first === undefined ? whole : whole.subarray(Number(first), Number(last) + 1);
    if (first !== undefined && part.length === 0) return response.writeHead(416).end();
    if (headers['want-digest'] !== undefined && this.adler32 !== undefined) {
      response.setHeader('Digest', `adler32=${this.adler32}`);
    }
    response.setHeader('Content-Length', part.length);
    if (first !== undefined) {
      const end = Number(first) + part.length - 1;
      response.writeHead(206, { 'content-range': `bytes ${first}-${end}/${whole.length}` });
    }
    return response.end(method === 'HEAD' ? undefined : part);
  };
}
