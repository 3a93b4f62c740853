/**
 * How a Slurm site is reached that is not the cluster of the settings: slurmrestd (`url`), or OpenSSH (`ssh`) and the
 * commands of Slurm there. No secrets stand in it, only the files that have them.
 */
export interface SiteConnection {
  /** slurmrestd: `http://host:port`, `https://…` or `unix:/path`. */
  readonly url?: string;
  /** File with a token for slurmrestd. */
  readonly tokenFile?: string;
  /** File of the key with which tokens for slurmrestd are signed. */
  readonly keyFile?: string;
  /** Account of all jobs of the site; absent: as the settings say. */
  readonly user?: string;
  /** Directory that the service and the nodes of this cluster share, of this site alone. */
  readonly workDirectory: string;
  /** Seconds that one question may take. */
  readonly timeout?: number;
}

/** True when one of the directories is the other one, or is in it. */
export function isSameOrWithin(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => (path.endsWith('/') ? path : `${path}/`)) as [
    string,
    string,
  ];
  return one.startsWith(other) || other.startsWith(one);
}
