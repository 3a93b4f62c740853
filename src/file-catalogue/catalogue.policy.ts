import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/platform/index.js';
import { CatalogueNames, NOBODY } from './catalogue-names.service.js';

/** Whose bits decide, as the numbers that the tables hold. */
export interface Actor {
  readonly userId: number;
  readonly groupId: number;
  /** FileCatalogManagement, or the service itself. */
  readonly isManager: boolean;
  /** Reads everything: a manager, or everybody where reading is global. */
  readonly readsAll: boolean;
}

/** What the bits are about. */
export interface Guarded {
  owner_id: number;
  group_id: number;
  mode: number;
}

const READ = 4;
const WRITE = 2;

/**
 * Who may do what in the catalogue.
 *
 * - The bits are POSIX's: the owner's for the owner, else the group's for the group of the token, else the others'.
 * - FileCatalogManagement reads and writes everything and is alone in declaring fields.
 * - While GRID_CATALOGUE_GLOBAL_READ is on, everybody reads everything.
 * - Otherwise a directory is readable when it and every directory above it grant r (ADR 0082); what is not readable
 *   is left out of listings, searches, values and totals, and asked for directly it is 403.
 * - Entries of a directory and its metadata are written with w on the directory (ADR 0083).
 */
@Injectable()
export class CataloguePolicy {
  constructor(
    private readonly names: CatalogueNames,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The caller as a reader; whoever reads everything needs no numbers. */
  async readerOf(principal: Principal): Promise<Actor> {
    const isManager = principal.properties.has('FileCatalogManagement');
    if (isManager || this.config.catalogueGlobalRead) {
      return { userId: NOBODY, groupId: NOBODY, isManager, readsAll: true };
    }
    const [userId, groupId] = await Promise.all([
      this.names.find('user', principal.user),
      this.names.find('group', principal.group),
    ]);
    return { userId, groupId, isManager, readsAll: false };
  }

  /** The caller as a writer, who will own what is made. */
  async writerOf(principal: Principal): Promise<Actor> {
    const isManager = principal.properties.has('FileCatalogManagement');
    const [users, groups] = await Promise.all([
      this.names.ensure('user', [principal.user]),
      this.names.ensure('group', [principal.group]),
    ]);
    return {
      userId: users.get(principal.user) ?? NOBODY,
      groupId: groups.get(principal.group) ?? NOBODY,
      isManager,
      readsAll: isManager || this.config.catalogueGlobalRead,
    };
  }

  /** The service itself (demo data, command line): may everything and owns as root. */
  async systemActor(): Promise<Actor> {
    const [userId, groupId] = await Promise.all([
      this.names.find('user', 'root'),
      this.names.find('group', 'root'),
    ]);
    return { userId, groupId, isManager: true, readsAll: true };
  }

  /** May the caller see what is in this directory, as far as its own bits say? */
  mayRead(actor: Actor, directory: Guarded): boolean {
    return actor.readsAll || grants(actor, directory, READ);
  }

  /** May the caller change what is in this directory? */
  mayWrite(actor: Actor, directory: Guarded): boolean {
    return actor.isManager || grants(actor, directory, WRITE);
  }

  /** May the caller change owner, group or mode? The owner changes the mode, a manager everything. */
  mayGiveAway(actor: Actor): boolean {
    return actor.isManager;
  }

  mayChangeMode(actor: Actor, directory: Guarded): boolean {
    return actor.isManager || directory.owner_id === actor.userId;
  }

  mayDeclareFields(actor: Actor): boolean {
    return actor.isManager;
  }
}

function grants(actor: Actor, directory: Guarded, bit: number): boolean {
  const { mode } = directory;
  if (directory.owner_id === actor.userId) return (mode & (bit << 6)) !== 0;
  if (directory.group_id === actor.groupId) return (mode & (bit << 3)) !== 0;
  return (mode & bit) !== 0;
}
