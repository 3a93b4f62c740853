/** HTTP byte by byte: what a client with manners would never send, and answers read as far as is wanted. */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';

const KEPT_BYTES = 2_000;
const CONNECT_MS = 20_000;

/** One client with an address of its own and at most one connection. */
export class Wire {
  constructor({ port, ca, address }) {
    this.options = { port, host: '127.0.0.1', localAddress: address };
    this.tls = { ca, servername: 'localhost' };
    this.socket = undefined;
    this.session = undefined;
  }

  /** A connection that may have served before. Throws when there is none. */
  async open() {
    if (this.socket?.writable && !this.socket.destroyed) return this.socket;
    const socket = connectTls({ ...this.options, ...this.tls, session: this.session });
    socket.on('error', () => undefined);
    socket.on('session', (session) => (this.session = session));
    socket.setNoDelay(true);
    this.socket = socket;
    await connected(socket, 'secureConnect');
    return socket;
  }

  /** A connection without TLS, of which nothing is known. */
  async bare() {
    const socket = connectPlain(this.options);
    socket.on('error', () => undefined);
    await connected(socket, 'connect');
    return socket;
  }

  close() {
    this.socket?.destroy();
    this.socket = undefined;
  }

  /**
   * Sends the request and reads its answer: `{status, headers, text}`, or undefined when the connection ended without
   * one or `request.forMs` is over. Throws when no answer comes within `deadlineMs`.
   */
  async exchange(request, deadlineMs) {
    const socket = await this.open();
    const reading = new Reading(socket, request);
    const timer = setTimeout(() => reading.fail(new Error('no answer came')), deadlineMs);
    const patience =
      request.forMs === undefined ? undefined : setTimeout(() => reading.settle(), request.forMs);
    try {
      const sent = send(socket, request, reading);
      const answer = await reading.answer;
      const isWhole = await Promise.race([sent, false]);
      if (!isWhole || answer === undefined || answer.isLast) this.close();
      return answer;
    } finally {
      clearTimeout(timer);
      clearTimeout(patience);
      reading.stop();
    }
  }
}

async function connected(socket, event) {
  const timer = setTimeout(() => socket.destroy(), CONNECT_MS);
  const closed = once(socket, 'close').then(() => {
    throw new Error('the server took no connection');
  });
  closed.catch(() => undefined);
  try {
    await Promise.race([once(socket, event), closed]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with true when all has been written, false when the connection or the wish for an answer has ended. */
async function send(socket, { head, body = [], pace, cutAfter = Infinity }, reading) {
  let sent = 0;
  for (const piece of chain(Buffer.from(head, 'latin1'), body)) {
    for (const bytes of pace ? sliced(piece, pace.bytes) : [piece]) {
      if (reading.isOver || !socket.writable) return false;
      if (!socket.write(bytes)) await reading.untilDrained();
      sent += bytes.length;
      if (sent >= cutAfter) {
        socket.destroy();
        return false;
      }
      if (pace) await new Promise((resolve) => setTimeout(resolve, pace.everyMs));
    }
  }
  return true;
}

function* chain(first, rest) {
  yield first;
  yield* rest;
}

function* sliced(piece, bytes) {
  for (let at = 0; at < piece.length; at += bytes) yield piece.subarray(at, at + bytes);
}

/** Reads the answers of one exchange; of pipelined requests the first `answers` of them. */
class Reading {
  constructor(socket, { isHead = false, answers = 1, isReadSlowly = false, keep = KEPT_BYTES }) {
    Object.assign(this, { socket, isHead, wanted: answers, keep });
    this.head = Buffer.alloc(0);
    this.current = undefined;
    this.isOver = false;
    this.drains = new Set();
    this.answer = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.onData = (bytes) => this.take(bytes);
    this.onEnd = () => this.settle(this.current?.isUntilClose ? this.done() : undefined);
    this.onDrain = () => this.drained();
    socket.on('data', this.onData).on('drain', this.onDrain).once('close', this.onEnd);
    if (isReadSlowly) this.readSlowly();
  }

  stop() {
    this.isOver = true;
    this.drained();
    clearInterval(this.sips);
    const { socket } = this;
    socket.off('data', this.onData).off('drain', this.onDrain).off('close', this.onEnd);
  }

  settle(answer) {
    this.isOver = true;
    this.drained();
    this.resolve(answer);
  }

  fail(error) {
    this.isOver = true;
    this.drained();
    this.reject(error);
  }

  untilDrained() {
    return new Promise((resolve) => {
      if (this.isOver || this.socket.destroyed) resolve();
      else this.drains.add(resolve);
    });
  }

  drained() {
    for (const resume of this.drains) resume();
    this.drains.clear();
  }

  readSlowly() {
    this.socket.pause();
    this.sips = setInterval(() => {
      this.socket.resume();
      setImmediate(() => !this.isOver && this.socket.pause());
    }, 300);
  }

  take(bytes) {
    let rest = bytes;
    while (rest.length > 0 && !this.isOver) {
      rest = this.current ? this.takeBody(rest) : this.takeHead(rest);
    }
  }

  takeHead(bytes) {
    this.head = Buffer.concat([this.head, bytes]);
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0) return Buffer.alloc(0);
    const [first, ...lines] = this.head.subarray(0, end).toString('latin1').split('\r\n');
    const rest = this.head.subarray(end + 4);
    this.head = Buffer.alloc(0);
    const status = Number(first.split(' ')[1]);
    if (status < 200) return rest;
    this.current = new Answer(status, headersOf(lines), this);
    this.finishIf();
    return rest;
  }

  takeBody(bytes) {
    const taken = this.current.take(bytes);
    this.finishIf();
    return bytes.subarray(taken);
  }

  finishIf() {
    if (!this.current?.isWhole) return;
    const answer = this.done();
    this.wanted -= 1;
    if (this.wanted <= 0 || answer.isLast) this.settle(answer);
  }

  done() {
    const { status, headers, text } = this.current;
    this.current = undefined;
    return { status, headers, text, isLast: /close/i.test(headers.connection ?? '') };
  }
}

/** One answer on its way in. */
class Answer {
  constructor(status, headers, { isHead, keep }) {
    Object.assign(this, { status, headers, keep, text: '', tail: '' });
    this.isChunked = /chunked/i.test(headers['transfer-encoding'] ?? '');
    const hasNone = isHead || status === 204 || status === 304;
    const length = headers['content-length'];
    this.isUntilClose = !hasNone && !this.isChunked && length === undefined;
    this.left = hasNone || this.isChunked ? 0 : Number(length ?? Infinity);
    this.isWhole = hasNone || (!this.isChunked && this.left === 0);
  }

  /** How many of the bytes belong to it. */
  take(bytes) {
    const taken = this.isChunked ? bytes.length : Math.min(bytes.length, this.left);
    if (this.text.length < this.keep) {
      this.text += bytes.toString('latin1', 0, Math.min(taken, this.keep));
    }
    if (this.isChunked) {
      this.tail = (this.tail + bytes.toString('latin1', Math.max(0, bytes.length - 7))).slice(-7);
      this.isWhole = this.tail.endsWith('\r\n0\r\n\r\n') || this.tail === '0\r\n\r\n';
    } else {
      this.left -= taken;
      this.isWhole = this.left === 0;
    }
    return taken;
  }
}

function headersOf(lines) {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
