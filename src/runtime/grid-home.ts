import { constants } from 'node:fs';
import { access, chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { acquireProcessLock, LockHeldError, type ProcessLock } from './process-lock.js';

/** GRID_HOME cannot be used; the message says which path, what is wrong and what to do. */
class GridHomeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GridHomeError';
  }
}

/** The directory of all state of the embedded defaults, opened for this process. */
export interface GridHome {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** The embedded database. */
  readonly postgres: string;
  /** Development CA and demo identities. */
  readonly pki: string;
  readonly sandboxes: string;
  readonly logs: string;
  /**
   * Takes the lock of the one server process of this home (`server.lock`). Throws GridHomeError naming the
   * pid when another server runs on it; the lock of a server that was killed is taken over.
   */
  lockForServer(): Promise<ProcessLock>;
}

/**
 * Creates GRID_HOME and its subdirectories where they are missing and checks that this process may write
 * them. As root others may pass through (mode 711: database and jobs run as other accounts below it), as
 * anybody else nobody may. Throws GridHomeError for a path that is no directory, read-only or another user's.
 */
export async function openHome(path: string): Promise<GridHome> {
  const wanted = resolve(path);
  await makeDirectory(wanted);
  const home = await realpath(wanted);
  const directories = {
    postgres: join(home, 'postgres'),
    pki: join(home, 'pki'),
    sandboxes: join(home, 'sandboxes'),
    logs: join(home, 'logs'),
  };
  await requireWritable(home);
  for (const directory of Object.values(directories)) {
    await makeDirectory(directory);
    await requireWritable(directory);
  }
  return { path: home, ...directories, lockForServer: () => lockForServer(home) };
}

async function makeDirectory(path: string): Promise<void> {
  const isNew = await createIfMissing(path);
  const info = await stat(path);
  if (!info.isDirectory()) {
    throw new GridHomeError(
      `GRID_HOME: ${path} is not a directory; remove it or set another GRID_HOME`,
    );
  }
  // mkdir obeys the umask, which may have taken away the right to pass through.
  if (isNew) await chmod(path, process.getuid?.() === 0 ? 0o711 : 0o700);
}

async function createIfMissing(path: string): Promise<boolean> {
  try {
    return await makePath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const reason: Record<string, string> = {
      EEXIST: 'it is not a directory',
      ENOTDIR: 'a part of the path is not a directory',
      EACCES: 'this user may not write there',
      EPERM: 'this user may not write there',
      EROFS: 'the file system is read-only',
      ENOSPC: 'no space is left on the device',
      ENOENT:
        'there is no such place (a dangling symbolic link, or a file system that takes no directories)',
    };
    throw new GridHomeError(
      `GRID_HOME: ${path} cannot be created: ${reason[code] ?? code}; set GRID_HOME to a writable directory`,
      { cause: error },
    );
  }
}

/**
 * Makes the directory and its parents; true when it is new. Node's recursive mkdir never returns for a path below
 * /proc and calls a read-only file system ENOENT; the plain one says what it is.
 */
async function makePath(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return false;
  const parent = dirname(path);
  const above = await stat(parent).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
  if (above === 'ENOENT' && parent !== path) await makePath(parent);
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    const isThere = await stat(path).catch(() => undefined);
    if (isThere?.isDirectory()) return false; // another process was faster
    throw error;
  }
}

async function requireWritable(path: string): Promise<void> {
  const uid = process.getuid?.();
  const info = await stat(path);
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS';
    const fault = isReadOnly
      ? 'is on a read-only file system'
      : info.uid === uid
        ? 'is read-only'
        : `belongs to another user (uid ${info.uid}; this process runs as uid ${uid})`;
    throw new GridHomeError(`GRID_HOME: ${path} ${fault}; set GRID_HOME to a writable directory`, {
      cause: error,
    });
  }
}

async function lockForServer(home: string): Promise<ProcessLock> {
  try {
    return await acquireProcessLock(join(home, 'server.lock'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new GridHomeError(
      `GRID_HOME: another Gridgate server (pid ${error.pid}, since ${error.since}) runs on ${home}; stop it or set another GRID_HOME`,
      { cause: error },
    );
  }
}
