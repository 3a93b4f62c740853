import { Inject, Injectable } from '@nestjs/common';
import { borderOf, type Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/platform/index.js';
import { CatalogueNames, UNKNOWN_ID } from '../names/catalogue-names.service.js';

/** Whose bits decide, as the numbers that the tables hold. */
export interface Actor {
  readonly userId: number;
  readonly groupId: number;
  /** Rules this directory with everything below it, by FileCatalogManagement or as the service itself. */
  readonly managedPath?: string;
  /** Reads everything: who rules `/`, or everybody where reading is global. */
  readonly readsAll: boolean;
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

const EVERYTHING = '/';

const READ = 4;
const WRITE = 2;

/**
 * Who may do what in the catalogue.
 *
 * - The bits are POSIX's: the owner's for the owner, else the group's for the group of the token, else the others'.
 * - FileCatalogManagement reads and writes everything and is alone in declaring fields. A virtual organisation is a
 *   border: in a group of one it is for `/<vo>` and what lies below only, whatever the bits above say, and not for
 *   deleting fields, whose values lie anywhere; with ServiceAdministrator there is no border (ADR 0295).
 * - While GRID_CATALOGUE_GLOBAL_READ is on, everybody reads everything.
 * - Otherwise a directory is readable when it and every directory above it grant r (ADR 0082); what is not readable
 *   is left out of listings, searches, values and totals, and is not there for who asks for it (ADR 0286).
 * - Entries of a directory and its metadata are written with w on the directory (ADR 0083).
 */
@Injectable()
export class CataloguePolicy {
  constructor(
    private readonly names: CatalogueNames,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The caller as a reader; whoever reads everything needs no numbers. */
  async readerOf(principal: Reader): Promise<Actor> {
    const managed = managedPathOf(principal);
    if (managed.managedPath === EVERYTHING || this.config.catalogueGlobalRead) {
      return { userId: UNKNOWN_ID, groupId: UNKNOWN_ID, ...managed, readsAll: true };
    }
    const [userId, groupId] = await Promise.all([
      this.names.find('user', principal.user),
      this.names.find('group', principal.group),
    ]);
    return { userId, groupId, ...managed, readsAll: false };
  }

  /** Somebody whose rights are looked up only: reads and writes by bits, with numbers that are there already. */
  async lookedUp(reader: Reader): Promise<Actor> {
    const managed = managedPathOf(reader);
    const [userId, groupId] = await Promise.all([
      this.names.find('user', reader.user),
      this.names.find('group', reader.group),
    ]);
    const readsAll = managed.managedPath === EVERYTHING || this.config.catalogueGlobalRead;
    return { userId, groupId, ...managed, readsAll };
  }

  /** The caller as a writer, who will own what is made. */
  async writerOf(principal: Principal): Promise<Actor> {
    const managed = managedPathOf(principal);
    const [users, groups] = await Promise.all([
      this.names.ensure('user', [principal.user]),
      this.names.ensure('group', [principal.group]),
    ]);
    return {
      userId: users.get(principal.user) ?? UNKNOWN_ID,
      groupId: groups.get(principal.group) ?? UNKNOWN_ID,
      ...managed,
      readsAll: managed.managedPath === EVERYTHING || this.config.catalogueGlobalRead,
      ...(principal.paths && { paths: principal.paths }),
    };
  }

  /** The service itself (demo data, command line): may everything and owns as root. */
  async systemActor(): Promise<Actor> {
    const [userId, groupId] = await Promise.all([
      this.names.find('user', 'root'),
      this.names.find('group', 'root'),
    ]);
    return { userId, groupId, managedPath: EVERYTHING, readsAll: true };
  }

  /** Does the path lie where the caller's FileCatalogManagement holds? Whatever the bits say, all may be done there. */
  manages({ managedPath }: Actor, path: string): boolean {
    // Stryker disable next-line ConditionalExpression: no path begins with the word undefined
    if (managedPath === undefined) return false;
    return managedPath === EVERYTHING || path === managedPath || path.startsWith(`${managedPath}/`);
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
}

function managedPathOf(principal: Reader): { managedPath?: string } {
  if (!principal.properties.has('FileCatalogManagement')) return {};
  const border = borderOf(principal);
  return { managedPath: border === undefined ? EVERYTHING : `/${border}` };
}

function grants(actor: Actor, directory: Guarded, bit: number): boolean {
  const { mode } = directory;
  if (directory.owner_id === actor.userId) return (mode & (bit << 6)) !== 0;
  if (directory.group_id === actor.groupId) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}
