import type { Group } from '#src/registry/index.js';

/** A path that a storage scope would open with all that lies below it. */
export interface StorageWish {
  readonly path: string;
  readonly right: 'read' | 'write';
}

/** What the catalogue lets users do with paths: the door through which the authorization server asks it. */
export interface StorageRights {
  /** Of each wish, whether user and group have the right there and wherever the catalogue has something below. */
  allowed(who: { user: string; group: Group }, wishes: readonly StorageWish[]): Promise<boolean[]>;
}

/** Injection token of the StorageRights. */
export const STORAGE_RIGHTS = Symbol('StorageRights');
