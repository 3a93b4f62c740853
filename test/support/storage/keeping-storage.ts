import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { Adler32 } from '../../../src/storage-client/index.js';
import { PlayedStorage } from './played-storage.js';

/** The Adler-32 of bytes. */
export const adlerOf = (bytes: Uint8Array): string => {
  const sum = new Adler32();
  sum.update(bytes);
  return sum.hex;
};

/** A storage that keeps what is put, once, or something else, and takes tokens whose scope is the very path; of signed addresses it is S3. */
export class KeepingStorage extends PlayedStorage {
  readonly kept = new Map<string, Buffer>();
  /** What is kept of what is put. */
  keeps: (bytes: Buffer) => Buffer = (bytes) => bytes;
  status = 201;
  isAway = false;
  onAway: () => unknown = () => undefined;
  digestOf: ((bytes: Buffer) => string) | undefined = adlerOf;

  constructor() {
    super('');
    this.reset();
  }

  reset(): void {
    Object.assign(this, { keeps: (bytes: Buffer) => bytes, status: 201, isAway: false });
    this.digestOf = adlerOf;
    this.play(this.keep);
  }

  /** What it does unless told. */
  readonly keep = (response: ServerResponse, request: IncomingMessage): void =>
    void this.onRequest(response, request);

  /** True for the path of a request whose token has the right to it; signed addresses are not looked at. */
  protected opens({ url = '', headers }: IncomingMessage, right: string): boolean {
    if (url.includes('?')) return true;
    const [, token = ''] = headers.authorization?.split(' ') ?? [];
    const scope = token === '' ? '' : (decodeJwt(token)['scope'] as string);
    return scope.split(' ').includes(`storage.${right}:${url}`);
  }

  private async onRequest(response: ServerResponse, request: IncomingMessage): Promise<void> {
    const { method, headers } = request;
    const [url = '', signature] = (request.url ?? '').split('?');
    const may = (right: string): boolean => this.opens(request, right);
    const found = this.kept.get(url);
    if (this.isAway) {
      this.onAway();
      return void response.destroy();
    }
    if (method === 'PUT') {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      if (!may('create') || found) return void response.writeHead(403).end();
      this.kept.set(url, this.keeps(Buffer.concat(pieces)));
      return void response.writeHead(this.status).end();
    }
    if (!found || !may(method === 'DELETE' ? 'modify' : 'read')) {
      return void response.writeHead(found ? 403 : 404).end();
    }
    if (method === 'DELETE') this.kept.delete(url);
    if (headers['want-digest'] !== undefined && this.digestOf && signature === undefined) {
      response.setHeader('Digest', `adler32=${this.digestOf(found)}`);
    }
    response.setHeader('Content-Length', found.length);
    response.end(method === 'GET' ? found : undefined);
  }
}
