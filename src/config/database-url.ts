import { userInfo } from 'node:os';

/** How to reach the database: by URL, or the embedded one by the directory of its socket. */
export interface DatabaseConnection {
  url?: string;
  /** PostgreSQL itself, when a pooler (PgBouncer in transaction mode) stands at `url`. */
  directUrl?: string;
  host?: string;
  port?: number;
  user?: string;
  password?: string;
  database?: string;
}

/** What the TLS of a connection demands (libpq's `sslmode`, without `allow`). */
export type TlsMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** TLS of a connection; the members are paths of PEM files, read again for every connection. */
export interface DatabaseTls {
  mode: TlsMode;
  sslrootcert?: string;
  sslcert?: string;
  sslkey?: string;
  sslpassword?: string;
}

/** Where a database is and who asks. `host` is a name, an address, or the absolute directory of a unix socket. */
export interface DatabaseAddress {
  host: string;
  port: number;
  user: string;
  password: string | undefined;
  database: string;
  tls: DatabaseTls;
}

const MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
const PARAMETERS = new Set(
  'host port user password dbname sslmode sslrootcert sslcert sslkey sslpassword'.split(' '),
);
const DEFAULT_PORT = 5432;
const ENCODE =
  'in user, password and names every character but letters, digits, "-", ".", "_" and "~" is percent-encoded';

/**
 * Reads a connection URL as libpq does (PostgreSQL manual, 34.1.1.2): `postgres://user:password@host:port/database?…`
 * with the parameters host, port, user, password, dbname, sslmode, sslrootcert, sslcert, sslkey and sslpassword. The
 * host is a name, an IPv4 or `[IPv6]` address, or a socket directory: `%2Frun%2Fpostgresql`, or `?host=/run/postgresql`.
 * Throws Error whose message follows the name of the variable ("is not a postgres:// URL") and never repeats the URL.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const parts = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#)?/.exec(text);
  if (!parts) throw new Error('is not a postgres:// URL');
  const [, authority = '', path = '', query = '', fragment] = parts;
  if (fragment !== undefined) throw new Error(`has a "#": ${ENCODE}`);
  const parameters = readParameters(query);
  const { user, password, host, port } = readAuthority(authority);
  const who = parameters.get('user') || user || accountName();
  const where = parameters.get('host') || host || 'localhost';
  if (where.includes(',')) throw new Error('names several hosts: one is expected');
  return {
    host: where,
    port: readPort(parameters.get('port') || port),
    user: who,
    password: parameters.get('password') || password || undefined,
    database: decode(path) || parameters.get('dbname') || who,
    tls: where.startsWith('/') ? { mode: 'disable' } : readTls(parameters),
  };
}

function readAuthority(authority: string): Record<'user' | 'password' | 'host' | 'port', string> {
  const at = authority.lastIndexOf('@');
  const credentials = authority.slice(0, Math.max(0, at));
  const colon = credentials.indexOf(':');
  const place = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(authority.slice(at + 1));
  if (!place) throw new Error(`has no host and port that can be told apart: ${ENCODE}`);
  return {
    user: decode(colon < 0 ? credentials : credentials.slice(0, colon)),
    password: colon < 0 ? '' : decode(credentials.slice(colon + 1)),
    host: decode(place[1] ?? place[2] ?? ''),
    port: place[3] ?? '',
  };
}

function readParameters(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((each) => each !== '')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    // A name that is none may be a part of the password, so it is not repeated.
    if (!PARAMETERS.has(name)) {
      throw new Error(`has a parameter that is none of ${[...PARAMETERS].join(', ')}`);
    }
    if (parameters.has(name)) throw new Error(`has the parameter ${name} twice`);
    parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return parameters;
}

function readPort(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new Error(`has a port that is no number from 1 to 65535: ${ENCODE}`);
  }
  return port;
}

function readTls(parameters: Map<string, string>): DatabaseTls {
  const mode = parameters.get('sslmode') || 'prefer';
  if (!MODES.includes(mode)) throw new Error(`has an sslmode that is none of ${MODES.join(', ')}`);
  const files: Omit<DatabaseTls, 'mode'> = {};
  for (const name of ['sslrootcert', 'sslcert', 'sslkey', 'sslpassword'] as const) {
    const value = parameters.get(name);
    // `system`: the CAs that the runtime brings along, as without the parameter.
    if (value && value !== 'system') files[name] = value;
  }
  const { sslrootcert, sslcert, sslkey } = files;
  if ((sslcert === undefined) !== (sslkey === undefined)) {
    throw new Error('has only one of sslcert and sslkey');
  }
  if (mode === 'verify-ca' && sslrootcert === undefined) {
    throw new Error(
      'has sslmode=verify-ca without sslrootcert: with public CAs anybody has a certificate; name the CA, or take verify-full',
    );
  }
  if (sslrootcert !== undefined && (mode === 'disable' || mode === 'prefer')) {
    throw new Error(
      `has sslrootcert, but sslmode=${mode} checks no certificate: take sslmode=verify-full`,
    );
  }
  return { mode: mode as TlsMode, ...files };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new Error('names no user'); // an account without a name, as containers have
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`has a "%" that begins no character: ${ENCODE}`);
  }
}
