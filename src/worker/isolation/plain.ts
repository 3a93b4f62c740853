import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { filtered, type FilterLoader } from './filter-loader.js';
import { type BecomeAccount, RUN_FILES, type Isolation, type JobPlaces } from './isolation.js';

/**
 * Level `accounts`: an account for each running job, on the machine as it is. `setsid` leaves the supervisor's session: within one,
 * SIGCONT asks for no right.
 */
export function ownAccounts(
  means: string,
  become: BecomeAccount,
  setsid: string,
  filter: FilterLoader | undefined,
): Isolation {
  return {
    level: 'accounts',
    means,
    placesOf,
    shows: () => true, // who may execute a program is decided by its bits
    commandOf: ({ path, uid }) => {
      if (uid === undefined) throw new Error('a run at level accounts has an account');
      const loader = filter === undefined ? [] : filtered(filter);
      return [
        setsid,
        ...become(uid, '--no-new-privs'),
        ...loader,
        '/bin/sh',
        placesOf(path).launch,
      ];
    },
  };
}

/** Level `none`: the service's own account. */
export const NO_ISOLATION: Isolation = {
  level: 'none',
  means: "the service's own account",
  placesOf,
  shows: (path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
  commandOf: ({ path }) => ['/bin/sh', placesOf(path).launch],
};

function placesOf(path: string): JobPlaces {
  return {
    work: join(path, RUN_FILES.work),
    tmp: join(path, RUN_FILES.tmp),
    launch: join(path, RUN_FILES.launch),
    token: join(path, RUN_FILES.token),
  };
}
