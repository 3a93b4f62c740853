import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { errors } from 'undici';
import type { Parser } from './undici-parser.js';

const CONTINUE = 100;
const PROCESSING = 102;
/** llhttp reads a folded line of these wrongly: `gzip,` and `chunked` in two lines is not chunked to it. */
const FRAMING = /^(?:content-length|transfer-encoding|connection|upgrade)$/i;
// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\0-\x08\n-\x1f\x7f]/;
const sockets = new WeakSet<object>();

// undici says so when a connection has its parser, before anything is sent over it
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { socket: Socket };
  if (sockets.has(socket)) changeParser(socket);
});

/**
 * Gives the answers over a socket of undici their usual meaning, where undici takes a connection for broken: a 204 or 304 has
 * no body, whatever its Content-Length says (of a 304 it is that of the page that has not changed, RFC 9110 §8.6); a 100
 * that was not asked for is skipped like any other 1xx (§15.2); lines of headers may be folded and end with LF (RFC 9112
 * §5.2, §2.2); blanks may follow the size of a chunk. Several lengths are refused, also equal ones, as §8.6 permits.
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
  const complete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (statusCode, isUpgrade, isKeptAlive) => {
    if (isWithoutBody(statusCode)) parser.contentLength = '';
    return complete(statusCode === CONTINUE ? PROCESSING : statusCode, isUpgrade, isKeptAlive);
  };
  nameFaults(parser);
  takeOldLines(parser);
}

/** undici says of every fault behind a Content-Length that the body has another length; before the body that is not it. */
function nameFaults(parser: Parser): void {
  const createError = parser.createError.bind(parser);
  parser.createError = (code, rest) => {
    if (parser.statusCode === 0) parser.contentLength = '';
    return createError(code, rest);
  };
}

/** llhttp takes folded lines only together with what nobody should take in a header, which is therefore refused here. */
function takeOldLines(parser: Parser): void {
  const { llhttp, ptr } = parser;
  llhttp.llhttp_set_lenient_optional_cr_before_lf(ptr, 1);
  llhttp.llhttp_set_lenient_spaces_after_chunk_size(ptr, 1);
  const field = parser.onHeaderField.bind(parser);
  parser.onHeaderField = (bytes) => {
    const told = field(bytes);
    const name = parser.headers.at(-1)?.toString('latin1') ?? '';
    llhttp.llhttp_set_lenient_headers(ptr, FRAMING.test(name) ? 0 : 1);
    return /[ \t]/.test(name) ? refused(parser, 'blank in the name of a header') : told;
  };
  const value = parser.onHeaderValue.bind(parser);
  parser.onHeaderValue = (bytes) => {
    const isRefused = CONTROL.test(bytes.toString('latin1'));
    return isRefused ? refused(parser, 'control character in a header') : value(bytes);
  };
  const end = parser.onMessageComplete.bind(parser);
  parser.onMessageComplete = () => {
    // no folded line follows the start line of the next answer
    llhttp.llhttp_set_lenient_headers(ptr, 0);
    return end();
  };
}

function refused(parser: Parser, why: string): number {
  parser.socket.destroy(new errors.HTTPParserError(`(${why})`));
  return -1;
}
