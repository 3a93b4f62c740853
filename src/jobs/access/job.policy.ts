import { borderOf, type Principal, type Property } from '#src/auth/index.js';
import type { Config } from '#src/config/index.js';

/** What the rules need to know of a job. */
export interface JobOwnership {
  owner: string;
  ownerGroup: string;
  setup: string;
  /** Virtual organisation of the group it was submitted in, '' without one. */
  vo: string;
}

/** Which jobs of a setup a list may show, as the repository understands it. */
export interface Visibility {
  setup: string;
  /** Jobs of this owner are visible; without it all of the setup are. */
  owner?: string;
  /** Jobs of this group, submitted while it was of that virtual organisation, are visible too. */
  group?: { name: string; vo: string };
  /** Jobs of this virtual organisation are visible too. */
  vo?: string;
}

type Caller = Pick<Principal, 'user' | 'group' | 'setup' | 'vo' | 'properties'>;

/**
 * Who may do what with jobs, pure rules:
 *
 * 1. Jobs never cross setups: a job of another setup than the token's is not visible to anybody.
 * 2. Submitting needs NormalUser.
 * 3. The owner may do everything with own jobs, whatever group the token is for.
 * 4. Whose token's group has JobSharing may do the same with all jobs of that group, but those that were submitted while a group of
 *    that name was of another virtual organisation.
 * 5. JobAdministrator may do everything with every job, but submit.
 * 6. JobMonitor may see every job, its manifest and its sandboxes, and change nothing.
 * 7. A virtual organisation is a border: in a group of one, 5 and 6 reach only jobs that were submitted in groups of the
 *    same one; in a group without, and with ServiceAdministrator, they reach all (docs/design/registry.md).
 * 8. With GRID_GLOBAL_JOBS=vo everybody may see the records of the jobs of their virtual organisation, in a group without
 *    one those of groups without; with ServiceAdministrator, and in a group without one that has a property beyond NormalUser,
 *    those of all. With `true` everybody may see every record. Manifests and sandboxes never.
 */
export class JobPolicy {
  constructor(private readonly globalJobs: Config['globalJobs']) {}

  /** May make new jobs. */
  maySubmit(caller: Caller): boolean {
    return caller.properties.has('NormalUser');
  }

  /** May see that the job exists: record, history, parameters, explanation. */
  mayRead(caller: Caller, job: JobOwnership): boolean {
    if (caller.setup !== job.setup) return false;
    return this.isOpen(caller, job) || sees(caller, job);
  }

  /** May read the manifest, which may hold secrets in its arguments. */
  mayReadManifest(caller: Caller, job: JobOwnership): boolean {
    return caller.setup === job.setup && sees(caller, job);
  }

  /** May read sandboxes, their files, and the running output. */
  mayReadSandbox(caller: Caller, job: JobOwnership): boolean {
    return this.mayReadManifest(caller, job);
  }

  /** May kill, delete and reschedule. */
  mayControl(caller: Caller, job: JobOwnership): boolean {
    if (caller.setup !== job.setup) return false;
    return oversees(caller, job, 'JobAdministrator') || owns(caller, job);
  }

  /** Is it as JobAdministrator that the caller, who may, controls the job, so that what they hold is theirs to release? */
  mayOverrule(caller: Caller, job: JobOwnership): boolean {
    return oversees(caller, job, 'JobAdministrator');
  }

  /** Is it by a property alone that the caller, who may, reads this of the job? */
  readsByPrivilege(caller: Caller, job: JobOwnership, what: 'record' | 'inside'): boolean {
    if (what === 'record' && this.isOpenToMembers(caller, job)) return false;
    return !owns(caller, job);
  }

  /** What a list shows; `allOwners` false is only the caller's own jobs. */
  visibility(caller: Caller, allOwners: boolean): Visibility {
    const { setup } = caller;
    if (!allOwners) return { setup, owner: caller.user };
    const border = this.borderOf(caller);
    const reaches =
      this.globalJobs !== 'false' || isOneOf(caller, 'JobAdministrator', 'JobMonitor');
    if (reaches && border === undefined) return { setup };
    return {
      setup,
      owner: caller.user,
      ...(isOneOf(caller, 'JobSharing') && {
        group: { name: caller.group, vo: caller.vo ?? '' },
      }),
      ...(reaches && { vo: border }),
    };
  }

  /**
   * The virtual organisation whose groups are counted where others come into a figure: positions in the queue, parts of what was
   * used. Undefined: all groups.
   */
  borderOf(caller: Caller): string | undefined {
    return this.globalJobs === 'true' ? undefined : borderOf(caller);
  }

  /** Does GRID_GLOBAL_JOBS alone let the caller see the record? */
  private isOpen(caller: Caller, job: JobOwnership): boolean {
    if (this.globalJobs === 'false') return false;
    const border = this.borderOf(caller);
    return border === undefined || border === job.vo;
  }

  /** The same, whatever the properties of the caller's group. */
  private isOpenToMembers(caller: Caller, job: JobOwnership): boolean {
    return this.globalJobs === 'true' || (this.globalJobs === 'vo' && job.vo === (caller.vo ?? ''));
  }
}

function sees(caller: Caller, job: JobOwnership): boolean {
  return oversees(caller, job, 'JobAdministrator', 'JobMonitor') || owns(caller, job);
}

function oversees(caller: Caller, job: JobOwnership, ...properties: Property[]): boolean {
  const border = borderOf(caller);
  return isOneOf(caller, ...properties) && (border === undefined || border === job.vo);
}

function owns(caller: Caller, job: JobOwnership): boolean {
  if (caller.user === job.owner) return true;
  const isShared = caller.group === job.ownerGroup && (caller.vo ?? '') === job.vo;
  return isShared && caller.properties.has('JobSharing');
}

function isOneOf(caller: Caller, ...properties: Property[]): boolean {
  return properties.some((property) => caller.properties.has(property));
}
