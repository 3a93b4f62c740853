import { Injectable } from '@nestjs/common';
import {
  borderOf,
  opensPath,
  plainInScopes,
  requirePath,
  StorageTokens,
  type Principal,
} from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import {
  addressOf,
  audienceOf,
  hasAddress,
  holds,
  pathAt,
  RegistryService,
  type AddressedElement,
  type RegistrySnapshot,
} from '#src/registry/index.js';
import { CataloguePolicy, type Reader } from '../access/catalogue.policy.js';
import { fileNotFound } from '../access/directory-access.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { checksumOf, replicaEntries } from '../namespace/entry-json.js';
import { findFiles, type FileRow } from '../namespace/files.repository.js';
import { seenFiles } from '../namespace/seen-files.js';
import { CatalogueStorageRights } from '../namespace/storage-rights.service.js';
import { filePathFault } from '../path/catalogue-path.js';
import type { AccessRequest } from './access.request.js';
import type { FileAccessResponse } from './access.response.js';
import { unknownElement } from './known-element.js';
import { StorageKeys, type KeyPlace } from './storage-keys.js';

const ANY = 'a storage element with an address';

/** A replica at an address of its element. */
export interface Placed extends KeyPlace {
  /** The path of the catalogue that has this address: the file's own, or that of another file, of which the PFN is. */
  pathThere: string;
}

/** Who wants to read, and where the scopes of the token hold. */
type Asker = Reader & Pick<Principal, 'paths'>;

/** What opens files at the storage elements that have them. */
@Injectable()
export class StorageAccess {
  constructor(
    private readonly database: Database,
    private readonly registry: RegistryService,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly rights: CatalogueStorageRights,
    private readonly tokens: StorageTokens,
    private readonly keys: StorageKeys,
  ) {}

  /**
   * For each of the paths an address and what opens it, in their order. Throws Problem 400 for what is no path and for an unknown element,
   * 403 for a path that no scope of the token opens, 404 for what the caller may not see, and 409 `catalogue.no-address`.
   */
  async toRead(
    principal: Principal,
    { paths, se, seconds, presigned = false }: AccessRequest,
  ): Promise<FileAccessResponse[]> {
    const registry = await this.registry.current();
    const files = await this.readFiles(principal, paths);
    const all = this.places(files, registry);
    const named = se === undefined ? all : only(all, ({ name }) => name === se);
    const wanted = presigned ? only(named, ({ kind }) => kind === 's3') : named;
    if (se !== undefined && !isKnown(principal, registry, se) && isNowhere(wanted)) {
      throw unknownElement(se);
    }
    const openable = await this.openable(principal, registry, wanted);
    const chosen = new Map(
      [...openable].flatMap(([path, [first]]) => (first ? [[path, first]] : [])),
    );
    const missing = paths.find((path) => !chosen.has(path));
    const where = se ?? (presigned ? 'an S3 store' : ANY);
    if (missing !== undefined) throw noAddress(missing, wanted.get(missing) ?? [], where);
    const end = this.tokens.endOf(principal, seconds);
    const keys = await this.keys.of(principal, [...chosen.values()], { right: 'read', end });
    return paths.map((path) => {
      const [file, place] = [files.get(path), chosen.get(path)];
      const key = place && keys.get(place.url);
      if (!file || !key) throw new Error(`nothing opens ${path}`);
      const { url, element } = place;
      return { path, se: element.name, url, ...key, size: file.size, checksum: checksumOf(file) };
    });
  }

  /** A file and where the service may fetch it for the caller, at least one place. Throws Problem as `toRead` does. */
  async placesToFetch(
    principal: Principal,
    path: string,
  ): Promise<{ file: FileRow; places: readonly Placed[] }> {
    const registry = await this.registry.current();
    const file = (await this.readFiles(principal, [path])).get(path);
    // The service opens the file alone, whatever its tokens are for.
    const all = (file ? this.placesOf(path, file, registry) : []).map((place) => ({
      ...place,
      opens: place.pathThere,
    }));
    const openable = await this.openable(principal, registry, new Map([[path, all]]));
    const places = openable.get(path) ?? [];
    if (!file || places.length === 0) throw noAddress(path, [], ANY);
    return { file, places };
  }

  /** An address of S3 by which anybody can read what lies there for so many seconds. */
  async signed(principal: Principal, place: Placed, seconds: number): Promise<string> {
    const end = this.tokens.endOf(principal, seconds);
    const key = (await this.keys.of(principal, [place], { right: 'read', end })).get(place.url);
    if (key?.presigned === undefined) throw new Error('nothing was signed');
    return key.presigned;
  }

  /** All of the files. 400, 403 and 404 as for a single read. */
  private async readFiles(
    principal: Principal,
    paths: readonly string[],
  ): Promise<Map<string, FileRow>> {
    paths.forEach((path, place) => {
      const fault = filePathFault(path);
      if (fault !== undefined) throw Problem.invalidField(`paths[${place}]`, fault);
      requirePath(principal, 'read', { path, kind: 'file' });
    });
    const found = await this.find(principal, paths);
    const missing = paths.find((path) => !found.has(path));
    if (missing !== undefined) throw fileNotFound(missing);
    return found;
  }

  /** Those of the paths that are files of the catalogue as the reader sees it, with their replicas. */
  async find(reader: Reader, paths: readonly string[]): Promise<Map<string, FileRow>> {
    const actor = await this.policy.readerOf(reader);
    const wanted = { actor, paths: [...new Set(paths)] };
    const seen = await seenFiles(this.database, this.policy, wanted);
    if (seen.length === 0) return new Map();
    const found = await findFiles(this.database, seen, 'replicas');
    const entries = [...found.values()].flatMap(replicaEntries);
    await this.names.load(entries.map(([id]) => id));
    return found;
  }

  /** Of each file the replicas that lie at an address of their element, in the order of the registry. */
  places(files: ReadonlyMap<string, FileRow>, registry: RegistrySnapshot): Map<string, Placed[]> {
    return new Map([...files].map(([path, file]) => [path, this.placesOf(path, file, registry)]));
  }

  private placesOf(path: string, file: FileRow, registry: RegistrySnapshot): Placed[] {
    const pfns = new Map(replicaEntries(file).map(([id, pfn]) => [this.names.nameOf(id), pfn]));
    return registry.storageElements().flatMap((element) => {
      const pfn = pfns.get(element.name);
      if (pfn === undefined || !hasAddress(element)) return [];
      if (element.kind === 'webdav' && !this.tokens.mayBeFor(audienceOf(element))) return [];
      const pathThere = pfn === '' ? path : pathAt(element, pfn);
      const url = pathThere === undefined ? undefined : addressOf(element, pathThere);
      if (pathThere === undefined || url === undefined) return [];
      const opens = element.kind === 'webdav' ? plainInScopes(pathThere) : pathThere;
      return [{ element, url, pathThere, opens }];
    });
  }

  /** Of each file those of its places that the caller may have opened. */
  async openable(
    asker: Asker,
    registry: RegistrySnapshot,
    all: ReadonlyMap<string, readonly Placed[]>,
  ): Promise<Map<string, Placed[]>> {
    const places = [...all].flatMap(([path, own]) => own.map((place) => ({ ...place, path })));
    const others = places.flatMap(({ path, pathThere }) => (pathThere === path ? [] : [pathThere]));
    const directories = places.flatMap(({ element, pathThere, opens }) =>
      opens !== pathThere && holds(element, opens) ? [opens] : [],
    );
    const files = await this.readable(asker, others);
    const open = await this.readableBelow(asker, registry, directories);
    const isUsable = (path: string, { pathThere, opens }: Placed): boolean =>
      (pathThere === path || files.has(pathThere)) && (opens === pathThere || open.has(opens));
    return new Map([...all].map(([path, own]) => [path, own.filter((one) => isUsable(path, one))]));
  }

  /** Those of the paths that are files of the catalogue which the caller may read. */
  private async readable(asker: Asker, paths: readonly string[]): Promise<Set<string>> {
    const wanted = [...new Set(paths)].filter((path) =>
      opensPath(asker, 'read', { path, kind: 'file' }),
    );
    if (wanted.length === 0) return new Set();
    const actor = await this.policy.readerOf(asker);
    const seen = await seenFiles(this.database, this.policy, { actor, paths: wanted });
    return new Set((await findFiles(this.database, seen)).keys());
  }

  /** Those of the directories that the caller may read with all that lies below. */
  private async readableBelow(
    asker: Asker,
    registry: RegistrySnapshot,
    directories: readonly string[],
  ): Promise<Set<string>> {
    const group = registry.group(asker.group);
    const wishes = [...new Set(directories)]
      .filter((path) => opensPath(asker, 'read', { path, kind: 'directory' }))
      .map((path) => ({ path, right: 'read' as const }));
    if (!group || wishes.length === 0) return new Set();
    const allowed = await this.rights.allowed({ user: asker.user, group }, wishes);
    return new Set(wishes.flatMap(({ path }, place) => (allowed[place] ? [path] : [])));
  }
}

/** Whether the caller may know that there is an element of this name with an address. */
function isKnown(principal: Principal, registry: RegistrySnapshot, se: string): boolean {
  const element = registry.storageElement(se);
  if (!element || !hasAddress(element)) return false;
  const border = borderOf(principal);
  return border === undefined || element.vos.includes(border);
}

function only(
  all: ReadonlyMap<string, readonly Placed[]>,
  isIt: (element: AddressedElement) => boolean,
): Map<string, readonly Placed[]> {
  const left = (places: readonly Placed[]) => places.filter(({ element }) => isIt(element));
  return new Map([...all].map(([path, places]) => [path, left(places)]));
}

function isNowhere(all: ReadonlyMap<string, readonly Placed[]>): boolean {
  return [...all.values()].every((places) => places.length === 0);
}

function noAddress(path: string, places: readonly Placed[], where: string): Problem {
  const own = places.find(({ pathThere }) => pathThere === path);
  const text = own
    ? `Its name has characters that storage services do not understand in tokens, and you may not read all of ${own.opens}, which a token would open instead: ${path}`
    : `No replica of ${path} lies at ${where}, or its PFN is the address of something else that you may not read`;
  return new Problem('catalogue.no-address', text);
}
