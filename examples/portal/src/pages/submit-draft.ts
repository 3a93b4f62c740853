import { GridError, parseJson, stringifyJson, type ManifestRequest } from 'gridgate/client';

/** A file of a job that is not submitted yet. */
export interface NamedFile {
  name: string;
  content: Blob;
}

/** A value of a manifest, and how a field shows it. While that is not changed, the value is sent as it was. */
export interface Given {
  text: string;
  value: unknown;
}

/** What the form of a new job holds. */
export interface DraftContent {
  /** What is written in the fields, by their ids. */
  fields: Record<string, string>;
  /** What the form has no fields for, of a job that it was filled with. */
  rest: Partial<ManifestRequest>;
  /** What that job has, by the field: as it is written there, and as it was. */
  given: Record<string, Given>;
  files: readonly NamedFile[];
}

interface Stored extends Omit<DraftContent, 'files' | 'given'> {
  /** A draft from before may have none. */
  given?: DraftContent['given'];
  user: string;
  /** Under which the job is submitted: however often that is tried, it is one job. */
  key: string;
  names: string[];
}

const KEPT = 'portal.draft';
/** Files outlive a change of page, not a reload: a browser keeps no hold on them. */
let files: { key: string; files: readonly NamedFile[] } | undefined;

/** Forgets the job that is being written, whoever does it. */
export function forgetDraft(): void {
  files = undefined;
  sessionStorage.removeItem(KEPT);
}

/** A job that is being written; it outlives the page and, but for its files, a reload. Each tab has its own. */
export class Draft {
  constructor(private readonly user: string) {}

  /** What was left; `lost` are files that have to be chosen again. Undefined: nothing, or somebody else's. */
  read(): (DraftContent & { lost: string[] }) | undefined {
    const stored = this.stored();
    if (!stored) return undefined;
    const known = files?.key === stored.key ? files.files : [];
    const names = new Set(known.map(({ name }) => name));
    const lost = stored.names.filter((name) => !names.has(name));
    const { fields, rest, given = {} } = stored;
    return { fields, rest, given, files: known, lost };
  }

  /** Keeps what has been changed, which is another job from now on. */
  write({ fields, rest, given, files: chosen }: DraftContent): void {
    const key = crypto.randomUUID();
    const names = chosen.map(({ name }) => name);
    files = { key, files: chosen };
    const stored: Stored = { user: this.user, key, fields, rest, given, names };
    try {
      sessionStorage.setItem(KEPT, stringifyJson(stored));
    } catch {
      this.clear(); // there is no room: the form works, it is only not kept
    }
  }

  /** The Idempotency-Key of what was written last. */
  get key(): string {
    return this.stored()?.key ?? crypto.randomUUID();
  }

  clear(): void {
    forgetDraft();
  }

  private stored(): Stored | undefined {
    const text = sessionStorage.getItem(KEPT);
    const stored = text === null ? undefined : (parseJson(text) as unknown as Stored);
    return stored?.user === this.user ? stored : undefined;
  }
}

/** The try before came through, though its answer did not: its job is held or not, as it was then. */
export function ofLostTry(isHeld: boolean, error: unknown): unknown {
  if (!(error instanceof GridError) || error.code !== 'idempotency.mismatch') return error;
  const [how, button] = isHeld ? ['not held', 'Submit'] : ['held', 'Submit and hold'];
  return new Error(`An earlier try has submitted this job, ${how}. Press ${button} to get to it.`);
}
