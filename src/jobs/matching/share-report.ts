import { Injectable } from '@nestjs/common';
import { RegistryService } from '#src/registry/index.js';
import type { Owned } from './fair-share.js';
import { LanesRepository } from './lanes.repository.js';
import { ShareBook } from './share-book.js';
import { SharesRepository } from './shares.repository.js';
import { part, sum } from './share-standings.js';

/** Of more owners the others are not told. */
const MOST_OWNERS = 10_000;

/** What somebody has had and is due, as parts of 1. */
interface Share {
  /** Of what was used lately. */
  used: number;
  /** Beside the others that have used something lately or wait. */
  due: number;
  /** Processor-seconds, older ones counting less. */
  seconds: number;
  /** Processors of the jobs that sites have now. */
  held: number;
  /** They have jobs that wait for their turn. */
  isWaiting: boolean;
}

/** An owner's share of what the group has had. */
export interface OwnerShare extends Share {
  owner: string;
}

/** A group's share of everything, and its owners, who is due most before others. */
export interface GroupShare extends Share {
  group: string;
  weight: number;
  owners: OwnerShare[];
}

/** Tells what all groups and owners have had of the processors, and what they are due. */
@Injectable()
export class ShareReport {
  constructor(
    private readonly book: ShareBook,
    private readonly lanes: LanesRepository,
    private readonly repository: SharesRepository,
    private readonly registry: RegistryService,
  ) {}

  /** Groups by name, of these alone when they are told: all parts are parts of theirs. Undefined when places are not shared. */
  async read(counted?: ReadonlySet<string>): Promise<GroupShare[] | undefined> {
    const shares = await this.book.current(await this.registry.current());
    if (!shares) return undefined;
    const parties = new Parties();
    for (const use of shares.uses) parties.of(use).used += use.used;
    // What the book counts as held is a look of some seconds ago, good for turns; people are told what is held now.
    for (const one of await this.repository.held()) parties.of(one).held += one.held;
    for (const one of await this.lanes.owners(MOST_OWNERS)) parties.of(one).isWaiting = true;
    const groups = [...parties.groups]
      .filter(([group]) => counted?.has(group) ?? true)
      .sort(byName);
    const weights = sum(groups.map(([group]) => shares.weightOf(group)));
    const all = sum(groups.map(([, owners]) => usedBy(owners)));
    return groups.map(([group, owners]) => {
      const weight = shares.weightOf(group);
      return {
        ...{ group, weight, ...shareOf([...owners.values()], all) },
        due: part(weight, weights),
        owners: ownersOf(owners),
      };
    });
  }
}

/** What an owner has had, holds, and waits for in a group. */
interface Party {
  used: number;
  held: number;
  isWaiting: boolean;
}

class Parties {
  readonly groups = new Map<string, Map<string, Party>>();

  of({ ownerGroup, owner }: Owned): Party {
    let owners = this.groups.get(ownerGroup);
    if (!owners) this.groups.set(ownerGroup, (owners = new Map<string, Party>()));
    let party = owners.get(owner);
    if (!party) owners.set(owner, (party = { used: 0, held: 0, isWaiting: false }));
    return party;
  }
}

function ownersOf(owners: ReadonlyMap<string, Party>): OwnerShare[] {
  const all = usedBy(owners);
  return [...owners].sort(byName).map(([owner, party]) => ({
    ...{ owner, ...shareOf([party], all) },
    due: part(1, owners.size),
  }));
}

function shareOf(parties: readonly Party[], all: number): Omit<Share, 'due'> {
  const seconds = sum(parties.map(({ used }) => used));
  return {
    used: part(seconds, all),
    seconds: Math.round(seconds),
    held: sum(parties.map(({ held }) => held)),
    isWaiting: parties.some(({ isWaiting }) => isWaiting),
  };
}

function usedBy(owners: ReadonlyMap<string, Party>): number {
  return sum([...owners.values()].map(({ used }) => used));
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
