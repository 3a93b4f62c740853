import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem, randomId, stringifyJson } from '#src/kernel/index.js';
import { problemAnswer } from './problem-body.js';

type Fault = Error & { code?: string };

/** Called for each request that could not be read, with the id that its answer carries. */
export type ClientErrorLog = (problem: Problem, requestId: string) => void;

/**
 * There is nobody to answer. What is written to a connection whose handshake took too long arrives after it, when the
 * client (or a busy machine) has caught up, and is taken for the answer to a request that nobody has read.
 */
const GONE = new Set<string | undefined>(['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT']);

/**
 * Answers requests that never become one (broken or too large heads, heads that do not arrive in time) in the form
 * of all other errors, and closes their connection. Node's own answer would be a bare status line.
 */
export function answerClientErrors(server: Server, log: ClientErrorLog): void {
  // Node would answer an unknown `Expect` with a bare 417; headFault answers it like every other fault.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: Fault, socket: Duplex) => {
    if (!socket.writable || GONE.has(error.code) || hasAnswerUnderWay(socket)) {
      socket.destroy();
      return;
    }
    const problem = problemOf(error);
    const requestId = randomId();
    log(problem, requestId);
    socket.end(rawAnswer(problem, requestId));
  });
}

/** Node's mark of the answer that a connection is sending. */
function hasAnswerUnderWay(socket: Duplex): boolean {
  const { _httpMessage: answer } = socket as Duplex & { _httpMessage?: { headersSent: boolean } };
  return answer?.headersSent === true;
}

function problemOf(error: Fault): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Problem('request.headers-too-large', 'The header of the request is too large');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request.timeout', 'The head of the request did not arrive in time');
  }
  return new Problem('request.invalid', 'This is not a valid HTTP request', { cause: error });
}

function rawAnswer(problem: Problem, requestId: string): string {
  const { status, headers, body } = problemAnswer(problem, requestId, false);
  const text = stringifyJson(body);
  const lines = Object.entries({
    ...headers,
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
