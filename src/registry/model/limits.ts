/** How many jobs may be at work and wait at the same time; absent: as many as there are. */
export interface JobLimits {
  /** Jobs that sites have been given and not let go of. */
  readonly running?: number;
  /** Jobs that no site has been given yet, held ones too. */
  readonly waiting?: number;
}

/** Limits of a group: of all its members together, and of each of them. */
export interface GroupLimits extends JobLimits {
  /** The same of each owner of jobs in the group. */
  readonly ownerRunning?: number;
  readonly ownerWaiting?: number;
}

/** Limits of a site; `waiting` counts the jobs that name this site alone. */
export interface SiteLimits extends JobLimits {
  /** Tag of the site → jobs at work there that ask for it. */
  readonly tags?: Readonly<Record<string, number>>;
}
