import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The part of undici's parser that is changed here, for the sockets of this library only. */
interface Parser {
  contentLength: string;
  onHeadersComplete(statusCode: number, isUpgrade: boolean, isKeptAlive: boolean): number;
}

const CONTINUE = 100;
const PROCESSING = 102;
const sockets = new WeakSet<object>();

// undici says so when a connection has its parser, before anything is sent over it
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { socket: Socket };
  if (sockets.has(socket)) changeParser(socket);
});

/**
 * Gives the answers over a socket of undici their usual meaning: a 204 or 304 has no body, whatever its Content-Length
 * says (of a 304 it is that of the page that has not changed, RFC 9110 §8.6), and a 100 that was not asked for is skipped
 * like any other 1xx (§15.2). undici takes each of them for a broken connection.
 */
export function readUsually(socket: Socket): void {
  sockets.add(socket);
}

/** Whether an answer never has a body, so that its length is not one of bytes that come. */
export function isWithoutBody(statusCode: number): boolean {
  return statusCode === 204 || statusCode === 304;
}

function changeParser(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find((one) => one.description === 'parser');
  const parser = symbol && (socket as unknown as Record<symbol, Parser | undefined>)[symbol];
  if (parser === undefined) return;
  const read = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (statusCode, isUpgrade, isKeptAlive) => {
    if (isWithoutBody(statusCode)) parser.contentLength = '';
    return read(statusCode === CONTINUE ? PROCESSING : statusCode, isUpgrade, isKeptAlive);
  };
}
