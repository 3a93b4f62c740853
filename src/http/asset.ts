import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { codingFor, THOROUGH, type Coding } from './content-coding.js';
import type { HttpRequest, HttpResponse } from './messages.js';

const CODINGS: readonly Coding[] = ['br', 'gzip'];

/** Something that is the same for everybody as long as the process lives; compressed once in each coding. */
export class Asset {
  private readonly made = new Map<Coding | 'tag', Promise<Buffer>>();

  constructor(
    readonly contentType: string,
    private readonly read: () => Promise<Buffer>,
  ) {}

  /** Answers the request: 200 in the coding that it likes best, 304 for the tag of that form. Ranges are not looked at. */
  async send(request: HttpRequest, response: HttpResponse): Promise<void> {
    response.vary('Accept-Encoding');
    const coding = isRanged(request) ? undefined : codingFor(request, CODINGS);
    const hash = await this.once('tag', tagOf);
    response.setHeader('ETag', `"${hash.toString()}${coding ? `-${coding}` : ''}"`);
    if (request.fresh) {
      response.statusCode = 304;
      response.end();
      return;
    }
    const bytes = await (coding ? this.once(coding, compress[coding]) : this.read());
    response.setHeader('Content-Type', this.contentType);
    if (coding) response.setHeader('Content-Encoding', coding);
    response.setHeader('Content-Length', bytes.length);
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  private once(
    what: Coding | 'tag',
    make: (bytes: Buffer) => Buffer | Promise<Buffer>,
  ): Promise<Buffer> {
    const known = this.made.get(what);
    if (known) return known;
    const made = this.read().then(make);
    this.made.set(what, made);
    made.catch(() => this.made.delete(what));
    return made;
  }
}

/** True when some compressed form would do; bytes of ranges are those of the thing itself. */
export function wantsCoded(request: HttpRequest): boolean {
  return !isRanged(request) && codingFor(request, CODINGS) !== undefined;
}

/** True for GET and HEAD. */
export function isRead({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

const compress: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, THOROUGH.br),
  gzip: (bytes) => promisify(gzip)(bytes, THOROUGH.gzip),
};

function isRanged(request: HttpRequest): boolean {
  return request.headers.range !== undefined;
}

function tagOf(bytes: Buffer): Buffer {
  return Buffer.from(createHash('sha256').update(bytes).digest('base64url').slice(0, 22));
}
