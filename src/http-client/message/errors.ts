import { RequestException } from './messages.js';

export {
  HTTPError,
  InvalidJSONError,
  JSONDecodeError,
  RequestException,
  StreamConsumedError,
  type RequestErrorDetails,
} from './messages.js';

/** The connection could not be made, or broke before the answer was complete. */
export class ConnectionError extends RequestException {}

/** The proxy is unreachable or refused the tunnel. */
export class ProxyError extends ConnectionError {}

/** TLS failed: untrusted certificate, wrong host name, unreadable CA bundle or client certificate. */
export class SSLError extends ConnectionError {}

/**
 * Time is over: while connecting (ConnectTimeout), while waiting for bytes (ReadTimeout), or in total (the
 * `deadline` keyword, a plain Timeout). A ConnectTimeout is both, `instanceof Timeout` and
 * `instanceof ConnectionError` are true for it.
 */
export class Timeout extends RequestException {
  /** A ConnectTimeout is one as well. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    return this === Timeout && value instanceof ConnectTimeout;
  }
}

/** No connection within the connect timeout: safe to retry. Also an instance of Timeout. */
export class ConnectTimeout extends ConnectionError {}

/** The server sent nothing for the read timeout. */
export class ReadTimeout extends Timeout {}

/** More redirects than `max_redirects`; `response` is the last one. */
export class TooManyRedirects extends RequestException {}

/** The URL has no scheme. */
export class MissingSchema extends RequestException {}

/** No adapter is mounted for the URL, or its scheme cannot be spoken. */
export class InvalidSchema extends RequestException {}

/** The URL cannot be parsed or has no usable host. */
export class InvalidURL extends RequestException {}

/** The proxy's URL cannot be used. */
export class InvalidProxyURL extends InvalidURL {}

/** A header name or value that must not go on the wire. */
export class InvalidHeader extends RequestException {}

/** The body cannot be undone from its content coding. */
export class ContentDecodingError extends RequestException {}

/** The body is larger than `max_response_bytes` (counted after decompression). */
export class ResponseTooLarge extends RequestException {}

/** A redirect asks to send a body again that can be read only once. */
export class UnrewindableBodyError extends RequestException {}

/** The `code` that a system or library error carries. Not by instanceof: errors may come from another realm. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
