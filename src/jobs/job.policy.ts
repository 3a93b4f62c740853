import type { Principal, Property } from '#src/auth/index.js';

/** What the rules need to know of a job. */
export interface JobOwnership {
  owner: string;
  owner_group: string;
  setup: string;
}

/** Which jobs of a setup a list may show, as the repository understands it. */
export interface Visibility {
  setup: string;
  /** Jobs of this owner are visible; with neither `owner` nor `group` all of the setup are. */
  owner?: string;
  /** Jobs of this group are visible too. */
  group?: string;
}

type Caller = Pick<Principal, 'user' | 'group' | 'setup' | 'properties'>;

/**
 * Who may do what with jobs (contract 3, reference 2.6), pure rules:
 *
 * 1. Jobs never cross setups: a job of another setup than the token's is not visible to anybody.
 * 2. Submitting needs NormalUser.
 * 3. The owner may do everything with own jobs, whatever group the token is for.
 * 4. Whose token's group has JobSharing may do the same with all jobs of that group.
 * 5. JobAdministrator may do everything with every job, but submit.
 * 6. JobMonitor may see every job, its manifest and its sandboxes, and change nothing.
 * 7. Everybody may see every record while GRID_GLOBAL_JOBS is on; manifests and sandboxes never.
 */
export class JobPolicy {
  constructor(private readonly globalJobs: boolean) {}

  /** May make new jobs. */
  maySubmit(caller: Caller): boolean {
    return caller.properties.has('NormalUser');
  }

  /** May see that the job exists: record, history, parameters, explanation. */
  mayRead(caller: Caller, job: JobOwnership): boolean {
    if (caller.setup !== job.setup) return false;
    return this.globalJobs || this.sees(caller, job);
  }

  /** May read the manifest, which may hold secrets in its arguments. */
  mayReadManifest(caller: Caller, job: JobOwnership): boolean {
    return caller.setup === job.setup && this.sees(caller, job);
  }

  /** May read sandboxes, their files, and the running output. */
  mayReadSandbox(caller: Caller, job: JobOwnership): boolean {
    return this.mayReadManifest(caller, job);
  }

  /** May kill, delete and reschedule. */
  mayControl(caller: Caller, job: JobOwnership): boolean {
    if (caller.setup !== job.setup) return false;
    return isOneOf(caller, 'JobAdministrator') || owns(caller, job);
  }

  /** What a list shows; `allOwners` false is only the caller's own jobs. */
  visibility(caller: Caller, allOwners: boolean): Visibility {
    const { setup } = caller;
    if (!allOwners) return { setup, owner: caller.user };
    if (this.globalJobs || isOneOf(caller, 'JobAdministrator', 'JobMonitor')) return { setup };
    const group = isOneOf(caller, 'JobSharing') ? caller.group : undefined;
    return { setup, owner: caller.user, ...(group === undefined ? {} : { group }) };
  }

  private sees(caller: Caller, job: JobOwnership): boolean {
    return isOneOf(caller, 'JobAdministrator', 'JobMonitor') || owns(caller, job);
  }
}

function owns(caller: Caller, job: JobOwnership): boolean {
  if (caller.user === job.owner) return true;
  return caller.properties.has('JobSharing') && caller.group === job.owner_group;
}

function isOneOf(caller: Caller, ...properties: Property[]): boolean {
  return properties.some((property) => caller.properties.has(property));
}
