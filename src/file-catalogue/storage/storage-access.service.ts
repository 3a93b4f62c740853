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
  pathAt,
  RegistryService,
  type AddressedElement,
  type RegistrySnapshot,
} from '#src/registry/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { fileNotFound } from '../access/directory-access.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { checksumOf, replicaEntries } from '../namespace/entry-json.js';
import { findFiles, type FileRow } from '../namespace/files.repository.js';
import { seenFiles } from '../namespace/seen-files.js';
import { CatalogueStorageRights } from '../namespace/storage-rights.service.js';
import { filePathFault } from '../path/catalogue-path.js';
import type { AccessRequest } from './access.request.js';
import type { FileAccessResponse } from './access.response.js';
import { S3Addresses } from './s3-addresses.js';

/** A replica at an address of its element. */
interface Placed {
  element: AddressedElement;
  url: string;
  /**
   * What a token for it opens: the path of the catalogue that has this address, which is the file's own or that of a PFN, or a directory
   * above it.
   */
  opens: string;
}

type Key = Pick<FileAccessResponse, 'headers' | 'presigned' | 'expires'>;

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
    private readonly s3: S3Addresses,
  ) {}

  /**
   * For each of the paths an address and what opens it, in their order. Throws Problem 400 for what is no path and for an unknown element,
   * 403 for a path that no scope of the token opens, 404 for what the caller may not see, and 409 `catalogue.no-address`.
   */
  async toRead(
    principal: Principal,
    { paths, se, seconds }: AccessRequest,
  ): Promise<FileAccessResponse[]> {
    const registry = await this.registry.current();
    const elements = registry.storageElements().filter(hasAddress);
    if (se !== undefined && !isKnown(principal, elements, se)) {
      throw Problem.invalidField('se', `there is no storage element ${se} with an address for you`);
    }
    const files = await this.readFiles(principal, paths);
    const wanted = se === undefined ? elements : elements.filter(({ name }) => name === se);
    const all = new Map(
      [...files].map(([path, file]) => [path, this.placesOf(path, file, wanted)]),
    );
    const open = await this.readable(principal, registry, all);
    const chosen = new Map<string, Placed>();
    for (const [path, places] of all) {
      const place = places.find(({ opens }) => opens === path || open.has(opens));
      if (!place) throw places.length > 0 ? tooMuch(path) : noAddress(path, se);
      chosen.set(path, place);
    }
    const keys = await this.keysOf(principal, [...chosen.values()], seconds);
    return paths.flatMap((path) => {
      const [file, place] = [files.get(path), chosen.get(path)];
      const key = place && keys.get(place.url);
      if (!file || !key) return [];
      const { url, element } = place;
      return [{ path, se: element.name, url, ...key, size: file.size, checksum: checksumOf(file) }];
    });
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
    const wanted = [...new Set(paths)];
    const actor = await this.policy.readerOf(principal);
    const seen = await seenFiles(this.database, this.policy, { actor, paths: wanted });
    const found = await findFiles(this.database, seen, 'replicas');
    const missing = wanted.find((path) => !found.has(path));
    if (missing !== undefined) throw fileNotFound(missing);
    const entries = [...found.values()].flatMap(replicaEntries);
    await this.names.load(entries.map(([id]) => id));
    return found;
  }

  /** The replicas of a file that lie at an address of their element, in the order of the elements. */
  private placesOf(path: string, file: FileRow, elements: readonly AddressedElement[]): Placed[] {
    const pfns = new Map(replicaEntries(file).map(([id, pfn]) => [this.names.nameOf(id), pfn]));
    return elements.flatMap((element) => {
      const pfn = pfns.get(element.name);
      if (pfn === undefined) return [];
      const url = pfn === '' ? addressOf(element, path) : pfn;
      const pathThere = url === undefined ? undefined : pathAt(element, url);
      if (url === undefined || pathThere === undefined) return [];
      const opens = element.kind === 'webdav' ? plainInScopes(pathThere) : pathThere;
      return [{ element, url, opens }];
    });
  }

  /** Of what tokens would open beside a file itself, that which the caller may read with all that lies below it. */
  private async readable(
    principal: Principal,
    registry: RegistrySnapshot,
    all: ReadonlyMap<string, readonly Placed[]>,
  ): Promise<Set<string>> {
    const group = registry.group(principal.group);
    const others = [...all].flatMap(([path, places]) =>
      places.flatMap(({ opens }) => (opens === path ? [] : [opens])),
    );
    const wishes = [...new Set(others)]
      .filter((path) => opensPath(principal, 'read', { path, kind: 'directory' }))
      .map((path) => ({ path, right: 'read' as const }));
    if (!group || wishes.length === 0) return new Set();
    const allowed = await this.rights.allowed({ user: principal.user, group }, wishes);
    return new Set(wishes.flatMap(({ path }, place) => (allowed[place] ? [path] : [])));
  }

  /** What opens each address. */
  private async keysOf(
    principal: Principal,
    places: readonly Placed[],
    seconds: number,
  ): Promise<Map<string, Key>> {
    const keys = new Map<string, Key>();
    for (const element of new Set(places.map((place) => place.element))) {
      const own = places.filter((place) => place.element === element);
      if (element.kind === 's3') {
        const urls = own.map(({ url }) => url);
        for (const [url, { presigned, expires }] of await this.s3.toRead(element, urls, seconds)) {
          keys.set(url, { presigned, expires: expires.toISOString() });
        }
        continue;
      }
      const paths = [...new Set(own.map(({ opens }) => opens))];
      const wishes = { audience: audienceOf(element), paths, seconds };
      for (const { token, expires, paths: opened } of await this.tokens.toRead(principal, wishes)) {
        const headers = { Authorization: `Bearer ${token}` };
        for (const { url, opens } of own) {
          if (opened.includes(opens)) keys.set(url, { headers, expires: expires.toISOString() });
        }
      }
    }
    return keys;
  }
}

/** Whether the caller may know that there is an element of this name with an address. */
function isKnown(principal: Principal, elements: readonly AddressedElement[], se: string): boolean {
  const border = borderOf(principal);
  return elements.some(
    ({ name, vos }) => name === se && (border === undefined || vos.includes(border)),
  );
}

function noAddress(path: string, se: string | undefined): Problem {
  const where = se === undefined ? 'No storage element with an address has' : `${se} does not have`;
  return new Problem('catalogue.no-address', `${where} ${path} at an address of its own`);
}

function tooMuch(path: string): Problem {
  const text = `What would open ${path} at its storage opens more than you may read: its PFN is of something else, or its name has characters that storage services take for others in tokens`;
  return new Problem('catalogue.no-address', text);
}
