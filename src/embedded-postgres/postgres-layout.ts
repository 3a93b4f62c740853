import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { accountOfUid, canUse, systemAccounts, type PostgresAccount } from './postgres-account.js';
import {
  copyBinaries,
  locateBinaries,
  repairLinks,
  type PostgresBinaries,
} from './postgres-binaries.js';
import { EmbeddedPostgresError } from './postgres-error.js';

/** `<directory>/.s.PGSQL.5432.lock` must fit in a socket address: 104 bytes on macOS, 108 on Linux. */
const MAX_SOCKET_DIRECTORY_BYTES = 103 - '/.s.PGSQL.5432'.length;
/** Where root keeps the data of a home that no other account can reach. */
const ELSEWHERE = '/var/lib/gridgate';
const LOCATION_FILE = 'location.json';
const SOCKET_PREFIX = 'gridgate-';

/** Everything that a start needs to know: programs, account and directories, tested to work together. */
export interface PostgresLayout {
  binaries: PostgresBinaries;
  account: PostgresAccount;
  /** Holds `data` and drafts of it; normally `$GRID_HOME/postgres`. */
  base: string;
  data: string;
}

/** The directory that holds `data`: below GRID_HOME, or where an earlier start recorded that it had to be. */
export async function recordedBase(postgresHome: string): Promise<string> {
  try {
    const text = await readFile(join(postgresHome, LOCATION_FILE), 'utf8');
    const { base } = JSON.parse(text) as { base?: unknown };
    if (typeof base === 'string' && base.startsWith('/')) return base;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new EmbeddedPostgresError(
        `${join(postgresHome, LOCATION_FILE)} cannot be read: it says where the database is`,
        { cause: error },
      );
    }
  }
  return postgresHome;
}

/**
 * Chooses account, programs and data directory. A data directory that exists decides the account by its
 * owner, so that the choice never changes afterwards. Throws EmbeddedPostgresError when nothing works.
 */
export async function chooseLayout(postgresHome: string): Promise<PostgresLayout> {
  const installed = await locateBinaries();
  const linked = await repairLinks(installed);
  const binaries = linked ? installed : await copyBinaries(installed, postgresHome);
  const base = await recordedBase(postgresHome);
  const data = await dataDirectory(base);
  const owner = await ownerOf(data);
  const uid = process.getuid?.() ?? -1;
  if (uid !== 0) return layoutAsSelf({ binaries, base, data, owner, uid });
  if (owner !== undefined) return layoutOfOwner({ binaries, base, data, owner });
  return layoutForRoot(binaries, postgresHome);
}

/** `data` without symbolic links (it may have been put on another disk), as its processes see it. */
export async function dataDirectory(base: string): Promise<string> {
  const path = join(base, 'data');
  return realpath(path).catch(() => path);
}

async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).uid;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new EmbeddedPostgresError(`The data directory ${path} cannot be reached (${code})`, {
      cause: error,
    });
  }
}

interface Known {
  binaries: PostgresBinaries;
  base: string;
  data: string;
}

function layoutAsSelf(known: Known & { owner: number | undefined; uid: number }): PostgresLayout {
  const { binaries, base, data, owner, uid } = known;
  if (owner !== undefined && owner !== uid) {
    throw new EmbeddedPostgresError(
      `The data directory ${data} belongs to another user (uid ${owner}; this process runs as uid ${uid}): start as the user who made it, or set another GRID_HOME`,
    );
  }
  const account = { kind: 'self' as const, name: String(uid), uid, gid: process.getgid?.() ?? -1 };
  return { binaries, base, data, account };
}

/** Root on a data directory that exists: as its owner, or, when root owns it, in a user namespace. */
async function layoutOfOwner(known: Known & { owner: number }): Promise<PostgresLayout> {
  const { base, data, owner } = known;
  const candidates = owner === 0 ? await namespaces() : await accountsOfUid(owner);
  for (const account of candidates) {
    const binaries = await reachableBinaries(account, data, known.binaries, base);
    if (binaries !== undefined) return { binaries, base, data, account };
  }
  throw new EmbeddedPostgresError(
    owner === 0
      ? `The data directory ${data} belongs to root and user namespaces (unshare --user) are not available to run PostgreSQL on it: enable them, or set another GRID_HOME`
      : `The data directory ${data} belongs to uid ${owner}, which has no usable account here or cannot reach it: correct the directory's permissions, or set another GRID_HOME`,
  );
}

async function accountsOfUid(uid: number): Promise<PostgresAccount[]> {
  const account = await accountOfUid(uid);
  return account === undefined ? [] : [account];
}

async function namespaces(): Promise<PostgresAccount[]> {
  return (await systemAccounts()).map((account) => ({ ...account, kind: 'namespace' as const }));
}

/**
 * A first start as root: a system account on GRID_HOME; if no account can reach it (a home below /root),
 * a user namespace; if those are switched off, a directory elsewhere, recorded in GRID_HOME.
 */
async function layoutForRoot(
  binaries: PostgresBinaries,
  postgresHome: string,
): Promise<PostgresLayout> {
  const accounts = await systemAccounts();
  for (const account of [...accounts, ...(await namespaces())]) {
    const usable = await tryBase(account, postgresHome, binaries);
    if (usable !== undefined) return layoutAt(postgresHome, usable, account);
  }
  const elsewhere = join(ELSEWHERE, randomBytes(8).toString('hex'));
  await mkdir(elsewhere, { recursive: true, mode: 0o711 });
  for (const account of accounts) {
    const usable = await tryBase(account, elsewhere, binaries);
    if (usable === undefined) continue;
    await recordBase(postgresHome, elsewhere);
    return layoutAt(elsewhere, usable, account);
  }
  await rm(elsewhere, { recursive: true, force: true });
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and no other account (postgres, daemon, nobody) nor a user namespace can be used: start as a normal user, or set DATABASE_URL',
  );
}

function layoutAt(
  base: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
): PostgresLayout {
  return { binaries, account, base, data: join(base, 'data') };
}

/** Tries the account with a directory of its own below `base`, as the data directory will be. */
async function tryBase(
  account: PostgresAccount,
  base: string,
  binaries: PostgresBinaries,
): Promise<PostgresBinaries | undefined> {
  const probe = await mkdtemp(join(base, 'probe-'));
  try {
    await chownTo(account, probe);
    return await reachableBinaries(account, probe, binaries, base);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

async function reachableBinaries(
  account: PostgresAccount,
  directory: string,
  binaries: PostgresBinaries,
  base: string,
): Promise<PostgresBinaries | undefined> {
  if (!(await canUse(account, directory))) return undefined;
  if (await canUse(account, directory, binaries.initdb)) return binaries;
  const copy = await copyBinaries(binaries, base);
  return (await canUse(account, directory, copy.initdb)) ? copy : undefined;
}

async function recordBase(postgresHome: string, base: string): Promise<void> {
  const path = join(postgresHome, LOCATION_FILE);
  await writeFile(`${path}.draft`, JSON.stringify({ base }) + '\n', { flush: true });
  await rename(`${path}.draft`, path);
}

/** Hands a directory to the account that PostgreSQL runs as. */
export async function chownTo(account: PostgresAccount, directory: string): Promise<void> {
  await chmod(directory, 0o700);
  if (account.kind === 'account') await chown(directory, account.uid, account.gid);
}

/**
 * A private directory (0700) for the unix socket: below `base`, or a short one below the directory for
 * temporary files when that path is too long for a socket address.
 */
export async function makeSocketDirectory(layout: PostgresLayout): Promise<string> {
  const inside = join(layout.base, 'socket');
  if (fitsSocket(inside)) {
    await prepareSocketDirectory(layout.account, inside);
    return inside;
  }
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    const draft = join(parent, `${SOCKET_PREFIX}XXXXXX`);
    if (!fitsSocket(draft)) continue;
    const directory = await mkdtemp(join(parent, SOCKET_PREFIX)).catch(() => undefined);
    if (directory === undefined) continue;
    await chownTo(layout.account, directory);
    if (await canUse(layout.account, directory)) return directory;
    await rm(directory, { recursive: true, force: true });
  }
  throw new EmbeddedPostgresError(
    `GRID_HOME is too deep for a unix socket (${Buffer.byteLength(inside)} bytes) and the directory for temporary files cannot be used: set a shorter GRID_HOME`,
  );
}

function fitsSocket(directory: string): boolean {
  return Buffer.byteLength(directory) <= MAX_SOCKET_DIRECTORY_BYTES;
}

/** Makes the socket directory again if it was cleaned away; refuses one that somebody else has put there. */
export async function prepareSocketDirectory(
  account: PostgresAccount,
  directory: string,
): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  const info = await lstat(directory);
  const ours = [process.getuid?.() ?? -1, account.uid];
  if (!info.isDirectory() || !ours.includes(info.uid)) {
    throw new EmbeddedPostgresError(`The socket directory ${directory} belongs to somebody else`);
  }
  await chownTo(account, directory);
}

/** Removes a socket directory that makeSocketDirectory made below the directory for temporary files. */
export async function removeSocketDirectory(directory: string, base: string): Promise<void> {
  if (dirname(directory) === base || !/^gridgate-[A-Za-z0-9]{6}$/.test(basename(directory))) return;
  await rm(directory, { recursive: true, force: true }).catch(() => undefined);
}
