import { Injectable } from '@nestjs/common';
import { StorageTokens } from '#src/auth/index.js';
import { RegistryService } from '#src/registry/index.js';
import { principalOf, type JobOwner } from './job-owner.js';
import { JobOutputs } from './job-outputs.service.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { checksumOf, replicaEntries } from '../namespace/entry-json.js';
import { StorageAccess, type Placed } from './storage-access.service.js';
import { StorageKeys, type Key } from './storage-keys.js';

/** Time for the first bytes of what a worker asks for; it asks again for what it has not begun. */
const SECONDS = 900;
const URL_FORM = /^[a-z][a-z\d+.-]*:\/\//i;

/** A file of the catalogue as jobs are told of it that have it as input data. */
export interface InputFile {
  /** Bytes. */
  size: number | bigint;
  /** Hexadecimal, by the name of its kind in small letters: `{adler32: "…"}`. */
  checksum: Record<string, string>;
  /** Those that have an address, a URL; and the storage element. */
  replicas: { url: string; se: string }[];
  /** One of them can be fetched for a job of the owner. */
  isFetched: boolean;
}

/** A file, and what opens each of its replicas. */
export interface FetchedFile extends Pick<InputFile, 'size' | 'checksum'> {
  path: string;
  sources: (Key & { se: string; url: string })[];
}

/** The bytes of files as jobs have them: with the rights that their owners have now. */
@Injectable()
export class JobStorage {
  constructor(
    private readonly registry: RegistryService,
    private readonly access: StorageAccess,
    private readonly tokens: StorageTokens,
    private readonly keys: StorageKeys,
    private readonly names: CatalogueNames,
    /** Files that jobs store. */
    readonly outputs: JobOutputs,
  ) {}

  /** Those of the paths that are files of the catalogue as the owner sees it. */
  async files(
    { user, group }: JobOwner,
    paths: readonly string[],
  ): Promise<Map<string, InputFile>> {
    const registry = await this.registry.current();
    const reader = { user, group, properties: new Set<never>(), ...registry.group(group) };
    const files = await this.access.find(reader, paths);
    const places = this.access.places(files, registry);
    const usable = await this.access.openable(reader, registry, ownPlaces(places));
    return new Map(
      [...files].map(([path, file]) => {
        const at = new Map((places.get(path) ?? []).map(({ element, url }) => [element.name, url]));
        const replicas = replicaEntries(file).map(([id, pfn]) => {
          const se = this.names.nameOf(id);
          return { url: at.get(se) ?? pfn, se };
        });
        const addressed = replicas.filter(({ url }) => URL_FORM.test(url));
        const isFetched = (usable.get(path) ?? []).length > 0;
        return [
          path,
          { size: file.size, checksum: checksumOf(file), replicas: addressed, isFetched },
        ];
      }),
    );
  }

  /**
   * What opens these files for a job of the owner; without those that the owner may not read any more. Undefined when the owner has no
   * right to anything any more. Throws Problem 503 while the keys of an element cannot be read.
   */
  async open(
    owner: JobOwner & { setup: string },
    paths: readonly string[],
  ): Promise<FetchedFile[] | undefined> {
    const registry = await this.registry.current();
    const principal = principalOf(owner, registry, ['catalogue:read']);
    if (!principal) return undefined;
    const files = await this.access.find(principal, paths);
    const all = this.access.places(files, registry);
    const usable = await this.access.openable(principal, registry, ownPlaces(all));
    const end = this.tokens.endOf(principal, SECONDS);
    const places = [...usable.values()].flat();
    const keys = await this.keys.of(principal, places, { right: 'read', end });
    return [...files].map(([path, file]) => ({
      ...{ path, size: file.size, checksum: checksumOf(file) },
      sources: (usable.get(path) ?? []).flatMap(({ element, url }) => {
        const key = keys.get(url);
        return key ? [{ se: element.name, url, ...key }] : [];
      }),
    }));
  }
}

/** Without replicas at the address of another file: the token that submitted the job may have been for less than its owner may read. */
function ownPlaces(places: ReadonlyMap<string, readonly Placed[]>): Map<string, Placed[]> {
  return new Map(
    [...places].map(([path, all]) => [path, all.filter(({ pathThere }) => pathThere === path)]),
  );
}
