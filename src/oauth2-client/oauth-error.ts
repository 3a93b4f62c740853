/** What an OAuthError may carry beside its code. */
export interface OAuthErrorDetails {
  /** A sentence for people (`error_description`); never holds a token or a secret. */
  description?: string | undefined;
  /** A page about the error (`error_uri`). */
  uri?: string | undefined;
  /** HTTP status of the answer, when there was one. */
  status?: number | undefined;
  /** True when the same call may succeed later. */
  retryable?: boolean | undefined;
  /** Seconds to wait before the next attempt (`Retry-After`). */
  retryAfter?: number | undefined;
  /** Headers of the answer, names in lower case. */
  headers?: Record<string, string> | undefined;
  cause?: unknown;
}

const MAX_DESCRIPTION = 300;
const NOT_PRINTABLE = /[^\x20-\x7e\u00a0-\uffff]/g;

/** Shortens a foreign text and removes control characters, so that it cannot forge log lines. */
function sanitized(text: string): string {
  const clean = text.replace(NOT_PRINTABLE, ' ').trim();
  return clean.length > MAX_DESCRIPTION ? `${clean.slice(0, MAX_DESCRIPTION)}…` : clean;
}

/**
 * Base of every OAuth fault and the default `oauth_error_class`: `error` is a code of RFC 6749 §5.2 sent by the
 * server, or one of the local codes of the subclasses. The message is `error: description`.
 */
export class OAuthError extends Error {
  readonly error: string;
  readonly description: string;
  readonly uri: string | undefined;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  declare readonly headers: Record<string, string> | undefined;

  constructor(error: string, details: OAuthErrorDetails = {}) {
    const code = sanitized(error);
    const description = sanitized(details.description ?? '');
    super(description === '' ? code : `${code}: ${description}`);
    if (details.cause !== undefined) this.cause = details.cause;
    this.name = new.target.name;
    this.error = code;
    this.description = description;
    this.uri = details.uri === undefined ? undefined : sanitized(details.uri);
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter;
    // not enumerable: a logger that prints all members must not print foreign headers
    Object.defineProperty(this, 'headers', { value: details.headers, enumerable: false });
  }
}

/** There is no token where one is needed (`missing_token`); raised before any I/O. */
export class MissingTokenError extends OAuthError {
  constructor(description = 'there is no token', details: OAuthErrorDetails = {}) {
    super('missing_token', { ...details, description });
  }
}

/** The token is expired and cannot be renewed, or does not verify (`token_invalid` or the code of the failed check). */
export class InvalidTokenError extends OAuthError {
  constructor(
    description = 'the token is expired and cannot be renewed',
    details: OAuthErrorDetails & { error?: string } = {},
  ) {
    super(details.error ?? 'token_invalid', { ...details, description });
  }
}

/** The token's type cannot be placed, or the server cannot revoke it (`unsupported_token_type`, RFC 7009 §2.2.1). */
export class UnsupportedTokenTypeError extends OAuthError {
  constructor(description = 'the token type is not supported', details: OAuthErrorDetails = {}) {
    super('unsupported_token_type', { ...details, description });
  }
}

/** The answer belongs to another request (`mismatching_state`, RFC 6749 §10.12). */
export class MismatchingStateError extends OAuthError {
  constructor(
    description = 'the state of the answer is not the state of the request',
    details: OAuthErrorDetails = {},
  ) {
    super('mismatching_state', { ...details, description });
  }
}

/** The authorization answer has no code (`missing_code`). */
export class MissingCodeError extends OAuthError {
  constructor(description = 'the answer has no code', details: OAuthErrorDetails = {}) {
    super('missing_code', { ...details, description });
  }
}

/** An endpoint is not HTTPS (`insecure_transport`, interface "Client component authentication" 1). */
export class InsecureTransportError extends OAuthError {
  constructor(description = 'OAuth endpoints must use https', details: OAuthErrorDetails = {}) {
    super('insecure_transport', { ...details, description });
  }
}

/** The caller's parameters cannot work (`configuration_error`); raised before any I/O. */
export class ConfigurationError extends OAuthError {
  constructor(description: string, details: OAuthErrorDetails = {}) {
    super('configuration_error', { ...details, description });
  }
}

/** An HTTP status that is no OAuth answer (`http_error`): HTML pages, 429, 5xx. */
export class HttpError extends OAuthError {
  /** Whether the answer was JSON, so that it came from the server itself and not from something before it. */
  readonly hasJson: boolean;

  constructor(description: string, details: OAuthErrorDetails & { hasJson?: boolean } = {}) {
    super('http_error', { ...details, description });
    this.hasJson = details.hasJson ?? false;
  }
}

/** The server answered with success, but not with what the protocol asks for (`invalid_response`). */
export class InvalidResponseError extends OAuthError {
  constructor(description: string, details: OAuthErrorDetails = {}) {
    super('invalid_response', { ...details, description });
  }
}
