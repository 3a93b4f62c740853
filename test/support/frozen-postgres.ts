import { readdirSync, readFileSync } from 'node:fs';

/** Stops (and continues) all processes of a PostgreSQL as a hung disk or a paused machine does: no connection ends. */
export class FrozenPostgres {
  private readonly pids: number[];

  private constructor(postmaster: number) {
    this.pids = [postmaster, ...childrenOf(postmaster)];
    for (const pid of this.pids) signal(pid, 'SIGSTOP');
  }

  /** The one whose postmaster is a child of this process. */
  static freeze(launcher: number): FrozenPostgres {
    const postmaster = childrenOf(launcher).find((pid) => nameOf(pid).startsWith('postgres'));
    if (postmaster === undefined) throw new Error('there is no PostgreSQL to freeze');
    return new FrozenPostgres(postmaster);
  }

  thaw(): void {
    for (const pid of this.pids.splice(0)) signal(pid, 'SIGCONT');
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // a backend that has ended since
  }
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => statOf(pid)?.parent === parent);
}

function nameOf(pid: number): string {
  return statOf(pid)?.name ?? '';
}

function statOf(pid: number): { name: string; parent: number } | undefined {
  try {
    const [, name = '', parent] =
      /\((.*)\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { name, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
