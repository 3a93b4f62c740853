import type { DatabaseAddress } from '#src/config/index.js';

const CONNECTION_CODES = /^(08|57P0|53|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_)/;
const CONNECTION_TEXT =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable/i;

/**
 * A connection to the database could not be made. The message names the variable that says how to connect, the place
 * and the reason, for people; no password is in it.
 */
export class DatabaseConnectionError extends Error {
  constructor(
    message: string,
    /** Waiting does not cure it: somebody has to change a setting. */
    readonly isFinal: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'DatabaseConnectionError';
  }
}

/** True for errors that mean the database is away or refuses new work, not that a statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseConnectionError) return true;
  const code = codeOf(error);
  if (code !== undefined && CONNECTION_CODES.test(code)) return true;
  return CONNECTION_TEXT.test(error.message);
}

/** SQLSTATE of a database error (`23505` unique violation …), undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error ? codeOf(error) : undefined;
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Serialization failure and deadlock: the same work may succeed when it is done again. */
const RETRYABLE = new Set<string | undefined>(['40001', '40P01']);

/** True when the database has undone the work for what others did at the same time. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlState(error));
}

/** What went wrong while connecting, in words for whoever set the variable. */
export function explainConnection(
  error: Error,
  { variable, address }: { variable: string; address: DatabaseAddress },
): DatabaseConnectionError {
  const { host, port } = address;
  const place = host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : hostAndPort(host, port);
  const known = REASONS.find(({ when }) => when.test(`${codeOf(error) ?? ''} ${error.message}`));
  const reason = known?.say?.(address, error.message) ?? (error.message || codeOf(error));
  const isFinal = known?.isFinal ?? !isDatabaseAway(error);
  return new DatabaseConnectionError(`${variable}: ${reason} (${place})`, isFinal, {
    cause: error,
  });
}

interface Reason {
  /** Looks at `code message`. */
  when: RegExp;
  isFinal: boolean;
  /** Undefined: the message says it. */
  say?: (address: DatabaseAddress, message: string) => string;
}

const POOLER_WORDS =
  'leads to a connection pooler (PgBouncer): set GRID_DATABASE_DIRECT_URL to the PostgreSQL behind it';

/** From the special to the general; PgBouncer 1.18 gives most of its refusals the code 08P01. */
const REASONS: readonly Reason[] = [
  { when: /unsupported startup parameter/i, isFinal: true, say: () => POOLER_WORDS },
  {
    when: /client password must be a (non-empty )?string/,
    isFinal: true,
    say: () => 'the server demands a password and the URL has none',
  },
  {
    when: /^(28P01|28000|3D000|42501) |password authentication failed|no such (user|database)|does not exist$|SASL/i,
    isFinal: true,
  },
  {
    when: /does not support SSL/,
    isFinal: true,
    say: ({ tls }) => `the server offers no TLS, which sslmode=${tls.mode} demands`,
  },
  {
    when: /^ERR_TLS_CERT_ALTNAME_INVALID /,
    isFinal: true,
    say: ({ host }, message) =>
      `the server's certificate is not for the host ${host}: ${message.replace(/^.*altnames: /, '')}`,
  },
  {
    when: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED) /,
    isFinal: true,
    say: ({ tls }) =>
      `the server's certificate is not from a CA of ${tls.sslrootcert ?? 'the runtime; name its CA by sslrootcert'}`,
  },
  { when: /^CERT_HAS_EXPIRED /, isFinal: true, say: () => "the server's certificate has expired" },
  {
    when: /^ERR_(SSL|OSSL)_/,
    isFinal: true,
    say: (_address, message) => `TLS fails: ${message.trim()}`,
  },
  { when: /^EACCES /, isFinal: true, say: () => 'this account may not open the socket' },
  {
    when: /^(ENOTFOUND|EAI_\w+) /,
    isFinal: false,
    say: ({ host }) => `the host ${host} is not known`,
  },
  { when: /^ECONNREFUSED /, isFinal: false, say: () => 'nothing listens there' },
  { when: /^ENOENT /, isFinal: false, say: () => 'there is no socket' },
  { when: /timeout expired/, isFinal: false, say: () => 'no answer in time' },
];

function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
