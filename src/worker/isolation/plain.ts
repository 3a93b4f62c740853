import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { filtered, type FilterLoader } from './filter-loader.js';
import { RUN_FILES, type Enclosure, type Isolation, type JobPlaces } from './isolation.js';

/** Level `accounts`: an account for each running job, on the machine as it is. */
export class OwnAccounts implements Isolation {
  readonly level = 'accounts';
  readonly sharesNetwork = true;
  readonly hasDescriptors = false;
  readonly launchesAsInit = false;

  constructor(
    readonly means: string,
    private readonly becomeAccount: (uid: number) => string[],
    /** Program that leaves the supervisor's session: within one, SIGCONT asks for no right. */
    private readonly setsid: string,
    private readonly filter: FilterLoader | undefined,
  ) {}

  placesOf(path: string): JobPlaces {
    return ownPlaces(path);
  }

  shows(): boolean {
    return true; // who may execute a program is decided by its bits
  }

  commandOf({ path, uid }: Enclosure): string[] {
    if (uid === undefined) throw new Error('a run at level accounts has an account');
    const filter = this.filter === undefined ? [] : filtered(this.filter);
    const launch = ['/bin/sh', join(path, RUN_FILES.launch)];
    return [this.setsid, ...this.becomeAccount(uid), ...filter, ...launch];
  }
}

/** Level `none`: the service's own account. */
export class NoIsolation implements Isolation {
  readonly level = 'none';
  readonly means = "the service's own account";
  readonly sharesNetwork = true;
  readonly hasDescriptors = false;
  readonly launchesAsInit = false;

  placesOf(path: string): JobPlaces {
    return ownPlaces(path);
  }

  shows(path: string): boolean {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }

  commandOf({ path }: Enclosure): string[] {
    return ['/bin/sh', join(path, RUN_FILES.launch)];
  }
}

function ownPlaces(path: string): JobPlaces {
  const place = (name: string): string => join(path, name);
  return {
    work: place(RUN_FILES.work),
    tmp: place(RUN_FILES.tmp),
    launch: place(RUN_FILES.launch),
    token: place(RUN_FILES.token),
  };
}
