/**
 * Where the programs of this machine are: in PATH and, unless GRID_TEST_PATH_ONLY is 'true', where Debian puts what is not for
 * people: daemons and the servers of PostgreSQL.
 */
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const POSTGRES = '/usr/lib/postgresql';

const isPathOnly = () => process.env.GRID_TEST_PATH_ONLY === 'true';

/** All paths at which there is a program of this name, in the order of PATH. */
export function programPaths(name) {
  const directories = (process.env.PATH ?? '').split(':').filter((path) => path !== '');
  if (!isPathOnly()) directories.push('/usr/sbin', '/sbin');
  return directories.map((path) => join(path, name)).filter(isProgram);
}

/** The first of them; undefined: there is none. */
export function programPath(name) {
  return programPaths(name)[0];
}

/** Where the programs of the newest PostgreSQL of the distribution are, or those of PATH; undefined: none is installed. */
export function postgresPrograms() {
  const versions = isPathOnly() || !existsSync(POSTGRES) ? [] : readdirSync(POSTGRES);
  const [newest] = versions
    .filter((name) => isProgram(join(POSTGRES, name, 'bin/initdb')))
    .sort((one, other) => Number(other) - Number(one));
  if (newest !== undefined) return join(POSTGRES, newest, 'bin');
  const initdb = programPath('initdb');
  return initdb && dirname(realpathSync(initdb));
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
