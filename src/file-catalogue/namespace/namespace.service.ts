import { Injectable } from '@nestjs/common';
import { requirePath, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import type { AnswerWriter } from '../answer/answer-writer.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { CataloguePolicy, type Actor, type Guarded } from '../access/catalogue.policy.js';
import { valuesHolding } from '../metadata/fields.repository.js';
import { presentValue } from '../metadata/metadata-field.js';
import { joinPath, parentPath } from '../path/catalogue-path.js';
import { listSubDirectories, type SubDirectoryRow } from './directories.repository.js';
import { fileNotFound, isSeen, readableEnd } from '../access/directory-access.js';
import { readChain, readChainNow } from './directory-chain.repository.js';
import { fileAttributes, fileMetadata, fileText, namesIn, subDirectoryText } from './entry-json.js';
import { FIRST_ENTRIES, type FirstEntries } from './first-entries.repository.js';
import { FirstEntriesReader } from './first-entries.service.js';
import { FilePointReads } from './file-point-reads.js';
import { existingFiles, findFile, listFiles, type FileRow } from './files.repository.js';
import type { ListingCursor, ListingWanted } from './listing.query.js';

type Entry = { kind: 'directories'; row: SubDirectoryRow } | { kind: 'files'; row: FileRow };

interface ListingRequest extends ListingWanted {
  path: string;
  onPosition: (position: string) => void;
  onNext: (place: ListingCursor) => void;
}

/** A directory that is being listed, with its first entries if they were read together with those of others. */
interface OpenedListing extends ListingRequest {
  actor: Actor;
  directoryId: number;
  first: FirstEntries | undefined;
}

const PAGE_ROWS = 1_000;

/** Directories and files by path. */
@Injectable()
export class NamespaceService {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly reads: FilePointReads,
    private readonly firstEntries: FirstEntriesReader,
  ) {}

  /**
   * Writes the contents `{"SubDirs", "Files"}` of a directory, page by page: between two pages nothing
   * of the database is held, so that a slow reader is nobody's business. Rights are looked at once, as when a directory
   * is opened. `onPosition` is told from where on the feed tells what changes meanwhile, `onNext` with a limit where the next
   * page begins. 404 before anything is written.
   */
  async writeListing(
    principal: Principal,
    request: ListingRequest,
    writer: AnswerWriter,
  ): Promise<void> {
    requirePath(principal, 'read', { path: request.path, kind: 'directory' });
    const actor = await this.policy.readerOf(principal, request.path);
    const opened = await this.open(actor, request);
    const text = new ListingText(this.names, request.verbose);
    let left = request.limit ?? Infinity;
    let last: ListingCursor | undefined;
    for await (const page of this.entries(opened)) {
      writer.requireClient();
      const batch = page.slice(0, left);
      await this.names.load(batch.flatMap(({ row }) => namesIn(row)));
      for (const entry of batch) {
        if (writer.push(text.add(entry))) await writer.flush();
      }
      const end = batch.at(-1);
      if (end) last = { kind: end.kind, name: end.row.name };
      left -= batch.length;
      if (batch.length === page.length) continue;
      if (last) request.onNext(last);
      break;
    }
    writer.push(text.finish());
  }

  /** Attributes of a file. 404 when there is none, or none that the caller may see. */
  async fileAttributes(principal: Principal, path: string): Promise<Record<string, unknown>> {
    requirePath(principal, 'stat', { path, kind: 'file' });
    const file = await this.readJoined(principal, path);
    await this.names.load([file.owner_id, file.group_id]);
    return fileAttributes(file, this.names);
  }

  /** User metadata of a file; `inherited` merges what holds for its directory (own values win). */
  async fileMetadata(principal: Principal, path: string, inherited: boolean): Promise<JsonObject> {
    requirePath(principal, 'read', { path, kind: 'file' });
    const file = await this.readFile(principal, path);
    const own = fileMetadata(file);
    return inherited ? { ...(await this.directoryValues(parentPath(path))), ...own } : own;
  }

  /** Which of the paths are registered files, whoever asks. */
  async existing(paths: readonly string[]): Promise<Set<string>> {
    return paths.length === 0 ? new Set() : existingFiles(this.database, paths);
  }

  /** Is there such a directory, whoever asks? */
  async hasDirectory(path: string): Promise<boolean> {
    return (await readChain(this.database, path)).at(-1)?.path === path;
  }

  /** As `readFile`, together with others and without its long columns. */
  private async readJoined(principal: Principal, path: string): Promise<Readonly<FileRow>> {
    const actor = await this.policy.readerOf(principal, path);
    const [chain, file] = await Promise.all([
      this.policy.reach(actor, path) === 'bits' ? this.reads.chainTo(path) : [],
      this.reads.file(path),
    ]);
    if (!file || !isSeen(this.policy, actor, chain, path)) throw fileNotFound(path);
    return file;
  }

  private async readFile(principal: Principal, path: string): Promise<FileRow> {
    const actor = await this.policy.readerOf(principal, path);
    if (this.policy.reach(actor, path) !== 'everything') {
      const chain = await readChain(this.database, parentPath(path));
      if (!isSeen(this.policy, actor, chain, path)) throw fileNotFound(path);
    }
    const file = await findFile(this.database, path);
    if (!file) throw fileNotFound(path);
    return file;
  }

  private async directoryValues(path: string): Promise<JsonObject> {
    const holding = await valuesHolding(this.database, path);
    return Object.fromEntries(
      holding.map(({ name, type, value }) => [name, presentValue(type, value)]),
    );
  }

  /** Complete listings begin together with those of others; pages and those with replicas are read alone. */
  private async open(actor: Actor, request: ListingRequest): Promise<OpenedListing> {
    const { path, limit, verbose, after } = request;
    const isPlain =
      limit === undefined && !verbose && after.kind === 'directories' && after.name === '';
    const first = isPlain ? await this.firstEntries.of(path) : undefined;
    const { chain, position } = first ?? (await readChainNow(this.database, path));
    const { id } = readableEnd<Guarded & { id: number; path: string }>(
      this.policy,
      actor,
      chain,
      path,
    );
    request.onPosition(position);
    return { ...request, actor, directoryId: id, first };
  }

  /** Everything in the directory that the caller may see, in the order of a listing. */
  private async *entries(opened: OpenedListing): AsyncGenerator<Entry[]> {
    const { actor, path, after } = opened;
    if (after.kind === 'directories') {
      for await (const rows of this.directoryPages(opened)) {
        yield rows
          .filter((row) => isSeen(this.policy, actor, [row], joinPath(path, row.name)))
          .map((row) => ({ kind: 'directories', row }));
      }
    }
    for await (const rows of this.filePages(opened)) {
      yield rows
        .filter(({ name }) => isSeen(this.policy, actor, [], joinPath(path, name)))
        .map((row) => ({ kind: 'files', row }));
    }
  }

  private async *directoryPages(opened: OpenedListing): AsyncGenerator<SubDirectoryRow[]> {
    const { directoryId, first } = opened;
    let after = opened.after.name;
    let more = true;
    if (first) {
      yield first.directories;
      after = first.directories.at(-1)?.name ?? '';
      more = first.directories.length === FIRST_ENTRIES;
    }
    const limit = rowsOf(opened);
    while (more) {
      const rows = await listSubDirectories(this.database, directoryId, { after, limit });
      yield rows;
      after = rows.at(-1)?.name ?? '';
      more = rows.length === limit;
    }
  }

  private async *filePages(opened: OpenedListing): AsyncGenerator<FileRow[]> {
    const { directoryId, first, verbose } = opened;
    let after = opened.after.kind === 'files' ? opened.after.name : '';
    let more = true;
    if (first) {
      yield first.files;
      after = first.files.at(-1)?.name ?? '';
      more = first.files.length === FIRST_ENTRIES;
    }
    const detail = verbose ? 'replicas' : 'plain';
    while (more) {
      const page = { after, limit: rowsOf(opened), detail } as const;
      const { rows, hasMore } = await listFiles(this.database, directoryId, page);
      yield rows;
      after = rows.at(-1)?.name ?? '';
      more = hasMore;
    }
  }
}

/** Entries of one page of the database, with the one that tells whether a page of the answer follows. */
function rowsOf({ limit }: ListingWanted): number {
  return Math.min(PAGE_ROWS, (limit ?? PAGE_ROWS) + 1);
}

/** Text of a listing while its entries come, directories first. */
class ListingText {
  private text = '{"SubDirs":{';
  private isEmpty = true;
  private inFiles = false;

  constructor(
    private readonly names: CatalogueNames,
    private readonly verbose: boolean,
  ) {}

  add(entry: Entry): string {
    const before = entry.kind === 'files' ? this.enterFiles() : this.take();
    const comma = this.isEmpty ? '' : ',';
    this.isEmpty = false;
    const text =
      entry.kind === 'files'
        ? fileText(entry.row, this.names, this.verbose)
        : subDirectoryText(entry.row, this.names, this.verbose);
    return `${before}${comma}${text}`;
  }

  finish(): string {
    return `${this.enterFiles()}}}`;
  }

  private enterFiles(): string {
    if (this.inFiles) return '';
    this.inFiles = true;
    this.isEmpty = true;
    return `${this.take()}},"Files":{`;
  }

  private take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}
