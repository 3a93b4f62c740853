/** Clients that make a server work in a TLS handshake. Each returns when its handshake has ended or is refused. */
import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import { connect } from 'node:tls';

const SERVER_NAME = 0;
const PADDING = 21;
const EARLY_DATA = 42;
/** What a server that refuses early data skips at most (OpenSSL's default), as one record. */
const SKIPPED_BYTES = 16_000;
/** What record (5), handshake (4), version (2) and random (32) take before the session id. */
const BEFORE_SESSION_ID = 43;

/** A whole handshake, also the server's part: the connection is closed, and the server closes it after what it has read. */
export async function handshake(port, options = {}) {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  await options.after?.(socket);
  if (socket.destroyed) return;
  const closed = once(socket, 'close');
  socket.resume().end();
  await closed;
}

/** Asks for another handshake in a connection of TLS 1.2 until it is refused. */
export async function renegotiate(socket) {
  await new Promise((resolve) => {
    socket.once('close', resolve);
    socket.on('error', resolve);
    if (!socket.renegotiate({}, resolve)) resolve();
  });
}

/** The first bytes of a client of TLS 1.3 with a key of X25519. */
export async function recordHello() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({
    host: '127.0.0.1',
    port: server.address().port,
    servername: 'a.invalid',
  });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [hello] = await once(socket, 'data');
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** The same hello with another extension, or with other contents of it. */
function withExtension(hello, type, contents) {
  let at = BEFORE_SESSION_ID;
  at += 1 + hello[at]; // session id
  at += 2 + hello.readUInt16BE(at); // suites
  at += 1 + hello[at]; // compression
  const kept = [];
  for (let from = at + 2; from < hello.length; from += 4 + hello.readUInt16BE(from + 2)) {
    const end = from + 4 + hello.readUInt16BE(from + 2);
    if (hello.readUInt16BE(from) !== type) kept.push(hello.subarray(from, end));
  }
  const head = Buffer.alloc(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(contents.length, 2);
  const extensions = Buffer.concat([head, contents, ...kept]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(extensions.length);
  const message = Buffer.concat([hello.subarray(5, at), length, extensions]);
  message.writeUIntBE(message.length - 4, 1, 3);
  return message;
}

/** As many names of a server as fit, each in the form of RFC 6066. */
export function withNames(hello, count) {
  const names = Array.from({ length: count }, (_, index) => {
    const name = Buffer.from(`n${index}.invalid`);
    return Buffer.concat([Buffer.from([0, 0, name.length]), name]);
  });
  const list = Buffer.concat(names);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(list.length);
  return withExtension(hello, SERVER_NAME, Buffer.concat([length, list]));
}

/** A hello that announces early data, and as much of it as a server skips. */
export function withEarlyData(hello) {
  const data = Buffer.alloc(SKIPPED_BYTES, 1);
  const head = Buffer.from([23, 3, 3, data.length >> 8, data.length & 255]);
  return Buffer.concat([inRecords(withExtension(hello, EARLY_DATA, Buffer.alloc(0))), head, data]);
}

export const withPadding = (hello, bytes) => withExtension(hello, PADDING, Buffer.alloc(bytes));

/** A handshake message in records of at most 16 KiB. */
export function inRecords(message) {
  const records = [];
  for (let at = 0; at < message.length; at += 16_384) {
    const part = message.subarray(at, at + 16_384);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** Sends bytes, in pieces of `size`, each when the one before has left, until the server answers or closes. */
export async function sendBytes(port, bytes, size = bytes.length) {
  const socket = connectTcp({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => undefined);
  const answered = Promise.race([once(socket, 'data'), once(socket, 'close')]);
  await once(socket, 'connect');
  for (let at = 0; at < bytes.length && socket.writable; at += size) {
    await new Promise((resolve) => socket.write(bytes.subarray(at, at + size), resolve));
  }
  await answered;
  socket.destroy();
}
