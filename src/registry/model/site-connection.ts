/**
 * How a Slurm site is reached that is not the cluster of the settings: slurmrestd (`url`), or OpenSSH (`ssh`) and the
 * commands of Slurm there. No secrets stand in it, only the files that have them.
 */
export interface SiteConnection {
  /** slurmrestd: `http://host:port`, `https://…` or `unix:/path`. */
  readonly url?: string;
  /** Name or address of a login node, on which OpenSSH runs `sbatch`, `squeue`, `sacct` and `scancel`. */
  readonly ssh?: string;
  /** Of ssh; absent: 22. */
  readonly port?: number;
  /** Private key for ssh, without a passphrase. */
  readonly identityFile?: string;
  /** Keys of the login node, as ssh-keyscan writes them; no other is believed. */
  readonly knownHostsFile?: string;
  /** Directory of Slurm's commands there. */
  readonly programs?: string;
  /** slurm.conf there. */
  readonly configFile?: string;
  /** File with a token for slurmrestd. */
  readonly tokenFile?: string;
  /** File of the key with which tokens for slurmrestd are signed. */
  readonly keyFile?: string;
  /** Account of all jobs of the site; absent: as the settings say. */
  readonly user?: string;
  /** Directory that the service and the nodes of this cluster share, of this site alone. */
  readonly workDirectory: string;
  /** How the nodes call it; absent: alike. */
  readonly remoteDirectory?: string;
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
