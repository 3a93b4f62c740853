import { caFilesIn, readCaFile, type CaFile } from './ca-file.js';
import { nameKey, type ChainLink } from '../certificate/chain-link.js';
import { decodeName, formatDn } from '../certificate/distinguished-name.js';
import type { RevocationList } from './revocation-list.js';
import { SigningRights } from '../signing-rights/policy-files.js';
import { Slices } from '#src/kernel/index.js';

/** A directory or bundle of trusted CAs cannot be read. */
class TrustStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TrustStoreError';
  }
}

/** Everything that is asked while a chain is judged; replaced as a whole. */
interface Index {
  authorities: Map<string, ChainLink[]>;
  lists: Map<string, RevocationList[]>;
  rights: SigningRights;
  /** Which list counts for which CA: a signature check that need not be repeated. */
  newest: Map<string, RevocationList | undefined>;
  /** What somebody should look at, one sentence each. */
  notes: string[];
}

/**
 * Trusted CAs, their revocation lists and whom they may sign, read from directories in the grid layout and from bundle
 * files. A file is read again only when its size, time or inode changes; a changed certificate or list that cannot be
 * read keeps its last good content, a policy that cannot be read allows nothing. All reading is done in slices of some
 * milliseconds: a request never waits for it.
 */
export class TrustStore {
  /** Grows with every change of content. */
  generation = 0;
  #files = new Map<string, CaFile>();
  #index: Index = emptyIndex();

  constructor(
    private readonly paths: readonly string[],
    private readonly log: (line: string) => void,
  ) {}

  /** Number of trusted CAs. */
  get size(): number {
    return [...this.#index.authorities.values()].reduce((sum, list) => sum + list.length, 0);
  }

  /** What somebody should look at in the files as they are: one sentence each. */
  get notes(): readonly string[] {
    return this.#index.notes;
  }

  /** Looks for changes and reads them; true when something has changed. Throws TrustStoreError. */
  async refresh(): Promise<boolean> {
    const stamps = await this.#stamps();
    const isSame =
      stamps.size === this.#files.size &&
      [...stamps].every(([path, stamp]) => this.#files.get(path)?.stamp === stamp);
    if (isSame && this.generation > 0) return false;
    const slices = new Slices();
    const next = new Map<string, CaFile>();
    for (const [path, stamp] of stamps) {
      const before = this.#files.get(path);
      next.set(path, before?.stamp === stamp ? before : await this.#load(path, stamp, before));
      if (slices.isOver) await slices.rest();
    }
    const index = await indexOf(next, slices);
    const known = new Set(this.#index.notes);
    for (const note of index.notes) if (!known.has(note)) this.log(`trusted CAs: ${note}`);
    this.#files = next;
    this.#index = index;
    this.generation++;
    return true;
  }

  /** Trusted CAs whose subject is that name. */
  authorities(key: string): readonly ChainLink[] {
    return this.#index.authorities.get(key) ?? [];
  }

  isTrusted(link: ChainLink): boolean {
    return this.authorities(link.subjectKey).some((one) => one.fingerprint === link.fingerprint);
  }

  /** Why the first of the CAs may not sign that subject, see SigningRights. */
  signingFault(subject: string, issuers: readonly ChainLink[]): string | undefined {
    return this.#index.rights.faultOf(subject, issuers);
  }

  /** The newest revocation list that this CA has signed. */
  revocationList(issuer: ChainLink): RevocationList | undefined {
    const { newest, lists } = this.#index;
    if (newest.has(issuer.fingerprint)) return newest.get(issuer.fingerprint);
    const found = newestOf(issuer, lists);
    // Presented intermediates come here too: a stranger must not fill the memory.
    if (newest.size < 10_000) newest.set(issuer.fingerprint, found);
    return found;
  }

  async #stamps(): Promise<Map<string, string>> {
    const stamps = new Map<string, string>();
    for (const path of this.paths) {
      try {
        for (const [file, stamp] of await caFilesIn(path)) stamps.set(file, stamp);
      } catch (error) {
        throw new TrustStoreError(
          `the trusted CAs in ${path} cannot be read: ${(error as Error).message}`,
          { cause: error },
        );
      }
    }
    return stamps;
  }

  async #load(path: string, stamp: string, before: CaFile | undefined): Promise<CaFile> {
    try {
      return await readCaFile(path, stamp, new Slices());
    } catch (error) {
      const kept = before === undefined ? 'it is left out' : 'its last content stays';
      const note = `${path} cannot be read (${(error as Error).message}); ${kept}`;
      const content = before ?? { authorities: [], revocationLists: [] };
      return { ...content, stamp, notes: [note] };
    }
  }
}

function emptyIndex(): Index {
  const rights = new SigningRights([], new Map());
  return { authorities: new Map(), lists: new Map(), rights, newest: new Map(), notes: [] };
}

async function indexOf(files: ReadonlyMap<string, CaFile>, slices: Slices): Promise<Index> {
  const links = new Map<string, ChainLink>();
  const lists = new Map<string, RevocationList>();
  const places = new Map<string, string[]>();
  for (const [path, file] of files) {
    // The grid layout has each CA twice: hash.0 is a link to its .pem.
    for (const link of file.authorities) {
      links.set(link.fingerprint, link);
      places.set(link.fingerprint, [...(places.get(link.fingerprint) ?? []), path]);
    }
    for (const list of file.revocationLists) lists.set(list.fingerprint, list);
  }
  const policies = [...files.values()].flatMap(({ policy }) => policy ?? []);
  const index: Index = {
    authorities: groupBy([...links.values()], (link) => link.subjectKey),
    lists: groupBy([...lists.values()], (list) => nameKey(formatDn(decodeName(list.issuer)))),
    rights: new SigningRights(policies, places),
    newest: new Map(),
    notes: [...files.values()].flatMap(({ notes }) => notes),
  };
  await checkLists(index, slices);
  for (const link of links.values()) {
    const fault = index.rights.silenceOf(link);
    if (fault !== undefined) index.notes.push(`${link.subject} may sign nothing: ${fault}`);
    if (slices.isOver) await slices.rest();
  }
  return index;
}

/** Checks every list with every CA of its name before anybody asks. */
async function checkLists(
  { authorities, lists, newest, notes }: Index,
  slices: Slices,
): Promise<void> {
  for (const [key, ofName] of lists) {
    const signers = authorities.get(key) ?? [];
    for (const signer of signers) {
      for (const list of ofName) await list.check(signer, slices);
      newest.set(signer.fingerprint, newestOf(signer, lists));
    }
    const isOrphan = signers.length > 0 && !signers.some((ca) => newest.get(ca.fingerprint));
    if (isOrphan) notes.push(`the revocation list of ${key} is not signed by it`);
  }
}

function newestOf(
  issuer: ChainLink,
  lists: Map<string, RevocationList[]>,
): RevocationList | undefined {
  return (lists.get(issuer.subjectKey) ?? [])
    .filter((list) => list.isSignedBy(issuer))
    .sort((a, b) => b.thisUpdate - a.thisUpdate)[0];
}

function groupBy<T>(values: T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
