import { connect, type TLSSocket } from 'node:tls';
import type { HostileRequest } from './job-requests.js';

/** What came back: undefined when the connection was closed without an answer. */
export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

const DEADLINE_MS = 20_000;

/** Sends requests byte by byte as they are, over one TLS connection after the other. */
export class RawConnection {
  private socket: TLSSocket | undefined;

  constructor(
    private readonly port: number,
    private readonly ca: string,
    private readonly token: string,
  ) {}

  /** One exchange. Throws when no answer came in time. */
  async exchange(request: HostileRequest): Promise<RawAnswer | undefined> {
    const socket = await this.open();
    const chunks: Buffer[] = [];
    const answer = await new Promise<RawAnswer | undefined>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer')), DEADLINE_MS);
      const settle = (value: RawAnswer | undefined): void => {
        clearTimeout(timer);
        socket.removeAllListeners('data');
        resolve(value);
      };
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const read = readAnswer(Buffer.concat(chunks), request.method === 'HEAD');
        if (read) settle(read);
      });
      socket.once('close', () => settle(undefined));
      socket.write(bytesOf(request, this.token));
      if (request.isCut) setTimeout(() => socket.destroy(), 2);
    });
    const isOver =
      request.isCut === true ||
      answer === undefined ||
      /close/i.test(answer.headers.get('connection') ?? '');
    if (isOver) this.close();
    return answer;
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private async open(): Promise<TLSSocket> {
    if (this.socket && !this.socket.destroyed && this.socket.writable) {
      this.socket.removeAllListeners('close');
      return this.socket;
    }
    const socket = connect({ port: this.port, host: 'localhost', ca: this.ca });
    socket.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('close', () => reject(new Error('the server took no connection')));
    });
    socket.removeAllListeners('close');
    this.socket = socket;
    return socket;
  }
}

function bytesOf(request: HostileRequest, token: string): Buffer {
  const head = [
    `${request.method} ${request.target} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${token}`,
    ...request.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const { length } = request.body;
  if (length > 0 || request.method === 'POST') head.push(`content-length: ${length}`);
  const body = request.isCut ? request.body.subarray(0, Math.floor(length / 2)) : request.body;
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/** The answer, once it is whole; an interim answer (100 Continue) is passed over. */
function readAnswer(bytes: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return readAnswer(rest, isHead);
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' };
  const body = bodyOf(rest, headers);
  return body && { status, headers, body: body.toString('utf8') };
}

function bodyOf(rest: Buffer, headers: ReadonlyMap<string, string>): Buffer | undefined {
  if (!/chunked/i.test(headers.get('transfer-encoding') ?? '')) {
    const length = Number(headers.get('content-length') ?? 0);
    return rest.length >= length ? rest.subarray(0, length) : undefined;
  }
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = parseInt(rest.subarray(at, line).toString('latin1'), 16);
    if (rest.length < line + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
