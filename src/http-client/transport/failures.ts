import { errors } from 'undici';
import {
  ConnectionError,
  ConnectTimeout,
  errorCode,
  InvalidHeader,
  ProxyError,
  RequestException,
  SSLError,
} from '../message/errors.js';
import type { PreparedRequest } from '../message/messages.js';

/** Headers of an answer beyond this size are refused; Chromium takes as many. */
export const MOST_HEADER_BYTES = 262_144;

/** Where an exchange stood when it failed. */
export interface FailureContext {
  request: PreparedRequest;
  /** Whether a connection had been made. */
  isConnected: boolean;
  /** Whether a proxy stands between. */
  proxied: boolean;
}

const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|INVALID_CA|HOSTNAME_MISMATCH|ERR_OSSL_|ERROR_IN_)/;
const ANSWER_FAULT = /\(([^()]+)\)/;
const TUNNEL_REFUSED = /^Proxy response \((\d+)\)/;

/** The RequestException for what the transport reports. Messages name the host, never the whole URL. */
export function toRequestException(error: unknown, context: FailureContext): RequestException {
  if (error instanceof RequestException) return error;
  const { request, isConnected, proxied } = context;
  const code = deepCode(error);
  const details = { request, cause: error };
  const host = URL.canParse(request.url) ? new URL(request.url).host : 'the server';
  if (TLS_CODE.test(code)) return new SSLError(`TLS with ${host} failed: ${code}`, details);
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return new InvalidHeader('the request holds a header or method that cannot be sent', details);
  }
  const refused = TUNNEL_REFUSED.exec((error as Error | undefined)?.message ?? '')?.[1];
  if (refused !== undefined) {
    return new ProxyError(
      `the proxy answered ${refused} instead of connecting to ${host}`,
      details,
    );
  }
  const fault = ANSWER_FAULT.exec(refusedAnswer(error))?.[1];
  if (fault !== undefined) {
    return new ConnectionError(`the answer of ${host} is no HTTP/1.1: ${fault}`, details);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    const most = `${MOST_HEADER_BYTES / 1024} KiB`;
    return new ConnectionError(
      `the headers of the answer of ${host} are larger than ${most}`,
      details,
    );
  }
  if (isConnected) return new ConnectionError(`the connection to ${host} broke: ${code}`, details);
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new ConnectTimeout(`connecting to ${host} timed out`, details);
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new ConnectionError('the session was closed', details);
  }
  if (proxied) return new ProxyError(`the proxy for ${host} cannot be reached: ${code}`, details);
  return new ConnectionError(`no connection to ${host}: ${code}`, details);
}

/** What undici's parser says of an answer that it cannot read, in brackets. */
function refusedAnswer(error: unknown): string {
  return error instanceof errors.HTTPParserError ? error.message : '';
}

/** The first telling code along the chain of causes. */
function deepCode(error: unknown): string {
  let current = error;
  while (typeof current === 'object' && current !== null) {
    const code = errorCode(current);
    const cause = 'cause' in current ? current.cause : undefined;
    if (code !== undefined && (code !== 'UND_ERR_PRX_TLS' || !cause)) return code;
    current = cause;
  }
  return (error as Error | undefined)?.name ?? 'unknown reason';
}
