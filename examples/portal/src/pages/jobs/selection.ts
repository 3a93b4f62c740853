import type { JobResponse } from 'gridgate/client';

/** Jobs that somebody has chosen, whatever is filtered meanwhile. */
export class Selection {
  private readonly chosen = new Map<number, JobResponse>();
  private onChange: () => void = () => undefined;

  get jobs(): JobResponse[] {
    return [...this.chosen.values()];
  }

  get size(): number {
    return this.chosen.size;
  }

  /** The page that shows it; there is one at a time. */
  shownBy(onChange: () => void): void {
    this.onChange = onChange;
  }

  has(jid: number): boolean {
    return this.chosen.has(jid);
  }

  choose(jobs: readonly JobResponse[], isChosen: boolean): void {
    for (const job of jobs) {
      if (isChosen) this.chosen.set(job.jid, job);
      else this.chosen.delete(job.jid);
    }
    this.onChange();
  }

  /** Takes over what is known anew of chosen jobs. */
  renew(jobs: readonly JobResponse[]): void {
    const known = jobs.filter(({ jid }) => this.chosen.has(jid));
    for (const job of known) this.chosen.set(job.jid, job);
    if (known.length > 0) this.onChange();
  }

  clear(): void {
    this.chosen.clear();
    this.onChange();
  }
}

let kept: { user: string; selection: Selection } | undefined;

/** What this user has chosen since the portal was opened. */
export function selectionOf(user: string): Selection {
  if (kept?.user !== user) kept = { user, selection: new Selection() };
  return kept.selection;
}
