import { Inject, Injectable } from '@nestjs/common';
import { borderOf, type Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { RegistryService, removesBytes } from '#src/registry/index.js';
import { CatalogueNames, UNKNOWN_ID } from '../names/catalogue-names.service.js';
import { topOf } from '../path/catalogue-path.js';

/** Whose bits decide, as the numbers that the tables hold. */
export interface Actor {
  readonly userId: number;
  readonly groupId: number;
  /** Rules this directory with everything below it, by FileCatalogManagement or as the service itself. */
  readonly managedPath?: string;
  /** Reads everything: who rules `/`, or everybody where reading is global. */
  readonly readsAll: boolean;
  /** Directories below `/` that are open to the reader with everything in them, whatever the bits say. */
  readonly opened: ReadonlySet<string>;
  /** Directories below `/` that are not there for the reader, nor anything in them. */
  readonly closed: ReadonlySet<string>;
  /** Where the token may be used; absent: everywhere. */
  readonly paths?: NonNullable<Principal['paths']>;
}

/** Who reads, as the rules need it: also somebody who is not there, like the owner of a job. */
export type Reader = Pick<Principal, 'user' | 'group' | 'vo' | 'properties'>;

/** What the bits are about. */
export interface Guarded {
  owner_id: number;
  group_id: number;
  mode: number;
}

/** What is decided of a path before any bits. */
export type Reach = 'everything' | 'nothing' | 'bits';

const EVERYTHING = '/';
const NO_BORDER = { opened: new Set<string>(), closed: new Set<string>() };

const READ = 4;
const WRITE = 2;

/**
 * Who may do what in the catalogue.
 *
 * - The bits are POSIX's: the owner's for the owner, else the group's for the group of the token, else the others'.
 * - FileCatalogManagement reads and writes everything and is alone in declaring fields. A virtual organisation is a
 *   border: in a group of one it is for `/<vo>` and what lies below only, whatever the bits above say, and not for
 *   deleting fields, whose values lie anywhere; with ServiceAdministrator there is no border (docs/design/registry.md).
 * - While GRID_CATALOGUE_GLOBAL_READ is `true`, everybody reads everything.
 * - Otherwise `/<name of a virtual organisation of the registry>` with everything below it is not there for who does not
 *   reach that organisation, whatever the bits say, to be read or to be written. `vo`: who reaches it reads everything there.
 * - Elsewhere, and there with `false`, the bits decide: a directory is readable when it and every directory above it grant r; what is not readable
 *   is left out of listings, searches, values and totals, and is not there for who asks for it.
 * - Entries of a directory and its metadata are written with w on the directory.
 */
@Injectable()
export class CataloguePolicy {
  constructor(
    private readonly names: CatalogueNames,
    @Inject(CONFIG) private readonly config: Pick<Config, 'catalogueGlobalRead'>,
    private readonly registry: RegistryService,
  ) {}

  /** The caller as a reader, of `path` alone where it is given; numbers are looked up only where bits may decide. */
  async readerOf(principal: Reader, path?: string): Promise<Actor> {
    const rights = await this.rightsOf(principal);
    const reader = { userId: UNKNOWN_ID, groupId: UNKNOWN_ID, ...rights };
    const isDecided = path !== undefined && this.reach(reader, path) !== 'bits';
    return rights.readsAll || isDecided
      ? reader
      : { ...rights, ...(await this.numbersOf(principal)) };
  }

  /** Somebody whose rights are looked up only: reads and writes by bits, with numbers that are there already. */
  async lookedUp(reader: Reader): Promise<Actor> {
    return { ...(await this.rightsOf(reader)), ...(await this.numbersOf(reader)) };
  }

  /** The caller as a writer, who will own what is made. */
  async writerOf(principal: Principal): Promise<Actor> {
    const [users, groups] = await Promise.all([
      this.names.ensure('user', [principal.user]),
      this.names.ensure('group', [principal.group]),
    ]);
    return {
      userId: users.get(principal.user) ?? UNKNOWN_ID,
      groupId: groups.get(principal.group) ?? UNKNOWN_ID,
      ...(await this.rightsOf(principal)),
      ...(principal.paths && { paths: principal.paths }),
    };
  }

  /** The service itself (demo data, command line): may everything and owns as root. */
  async systemActor(): Promise<Actor> {
    const [userId, groupId] = await Promise.all([
      this.names.find('user', 'root'),
      this.names.find('group', 'root'),
    ]);
    return { userId, groupId, managedPath: EVERYTHING, readsAll: true, ...NO_BORDER };
  }

  /** The numbers of the storage elements that keep the bytes of a file that is deleted, although they came through this service. */
  async keepingElements(): Promise<ReadonlySet<number>> {
    const elements = (await this.registry.current()).storageElements();
    const names = elements.filter((element) => !removesBytes(element)).map(({ name }) => name);
    const ids = await this.names.ensure('se', names);
    return new Set(names.flatMap((name) => ids.get(name) ?? []));
  }

  /** Does the path lie where the caller's FileCatalogManagement holds? Whatever the bits say, all may be done there. */
  manages({ managedPath }: Actor, path: string): boolean {
    // Stryker disable next-line ConditionalExpression: no path begins with the word undefined
    if (managedPath === undefined) return false;
    return managedPath === EVERYTHING || path === managedPath || path.startsWith(`${managedPath}/`);
  }

  /** May everything at the path and below it be read, nothing, or what the bits say? */
  reach(actor: Actor, path: string): Reach {
    if (actor.readsAll || this.manages(actor, path)) return 'everything';
    const top = topOf(path);
    if (actor.closed.has(top)) return 'nothing';
    return actor.opened.has(top) ? 'everything' : 'bits';
  }

  /** May the caller see what is in this directory, as far as its own bits say? */
  mayRead(actor: Actor, directory: Guarded): boolean {
    return actor.readsAll || grants(actor, directory, READ);
  }

  /** May the caller change what is in this directory, as far as its bits say? */
  mayWrite(actor: Actor, directory: Guarded): boolean {
    return grants(actor, directory, WRITE);
  }

  /** May the caller change owner or group of what has this path? */
  mayChangeOwner(actor: Actor, path: string): boolean {
    return this.manages(actor, path);
  }

  /** May the caller change the mode of what has this path? */
  mayChangeMode(actor: Actor, path: string, current: Guarded): boolean {
    return this.manages(actor, path) || current.owner_id === actor.userId;
  }

  /** May the caller declare fields? That takes nothing from anybody, so every manager may. */
  mayDeclareFields({ managedPath }: Actor): boolean {
    return managedPath !== undefined;
  }

  /** May the caller delete fields, and with them their values wherever they are set? */
  mayDeleteFields({ managedPath }: Actor): boolean {
    return managedPath === EVERYTHING;
  }

  private async numbersOf({ user, group }: Reader): Promise<Pick<Actor, 'userId' | 'groupId'>> {
    const [userId, groupId] = await Promise.all([
      this.names.find('user', user),
      this.names.find('group', group),
    ]);
    return { userId, groupId };
  }

  /** What the reader's group opens and closes, whatever the bits say. */
  private async rightsOf(reader: Reader): Promise<Omit<Actor, 'userId' | 'groupId' | 'paths'>> {
    const { catalogueGlobalRead } = this.config;
    const border = borderOf(reader);
    const isManager = reader.properties.has('FileCatalogManagement');
    const managed = isManager && { managedPath: border === undefined ? EVERYTHING : `/${border}` };
    const readsAll = catalogueGlobalRead === 'true' || (isManager && border === undefined);
    if (readsAll) return { ...managed, readsAll, ...NO_BORDER };
    const { vos } = await this.registry.current();
    const paths = (isReached: boolean): Set<string> =>
      new Set(
        vos
          .filter((vo) => (border === undefined || vo === border) === isReached)
          .map((vo) => `/${vo}`),
      );
    const opened = catalogueGlobalRead === 'vo' ? paths(true) : NO_BORDER.opened;
    return { ...managed, readsAll, opened, closed: paths(false) };
  }
}

function grants(actor: Actor, directory: Guarded, bit: number): boolean {
  const { mode } = directory;
  if (directory.owner_id === actor.userId) return (mode & (bit << 6)) !== 0;
  if (directory.group_id === actor.groupId) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}
