import { Injectable } from '@nestjs/common';
import { RegistryService } from '#src/registry/index.js';
import { compareUse, ShareLedger, type Owned, type Shares } from './fair-share.js';
import { LanesRepository } from './lanes.repository.js';
import { ShareBook } from './share-book.js';
import { SharesRepository } from './shares.repository.js';

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

/** Where an owner stands; shares are parts of 1. */
export interface ShareStanding extends Pick<GroupShare, 'group' | 'weight' | 'used' | 'due'> {
  /** What the owner has had of what the group has used. */
  ownerUsed: number;
  /** Owners with waiting jobs who come before. */
  ownersBefore: number;
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
    // What the book counts as held is a look of some seconds ago, good for turns; people are told what is held now.
    return shares && this.report(shares, await this.repository.held(), counted);
  }

  private async report(
    shares: Shares,
    held: readonly (Owned & { held: number })[],
    counted?: ReadonlySet<string>,
    waiting: readonly Owned[] = [],
  ): Promise<GroupShare[]> {
    const parties = new Parties();
    for (const use of shares.uses) parties.of(use).used += use.used;
    for (const one of held) parties.of(one).held += one.held;
    for (const one of [...(await this.lanes.owners(MOST_OWNERS)), ...waiting]) {
      parties.of(one).isWaiting = true;
    }
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

  /**
   * Where the owner of a waiting job stands, beside the group's own owners and those of these groups, or of all when none are
   * told. Undefined when places are not shared.
   */
  async standingOf(
    owned: Owned,
    counted?: ReadonlySet<string>,
  ): Promise<ShareStanding | undefined> {
    const { ownerGroup, owner } = owned;
    const shares = await this.book.current(await this.registry.current());
    if (!shares) return undefined;
    const among = counted && new Set([...counted, ownerGroup]);
    const groups = await this.report(shares, [], among, [owned]);
    const own = groups.find(({ group }) => group === ownerGroup);
    if (!own) return undefined;
    const names = new Set(groups.map(({ group }) => group));
    const uses = shares.uses.filter((use) => names.has(use.ownerGroup));
    const ledger = new ShareLedger({ ...shares, uses });
    const account = ledger.accountOf(owned);
    const waiting = groups.flatMap(({ group, owners }) =>
      owners.filter(({ isWaiting }) => isWaiting).map((one) => ({ ...one, ownerGroup: group })),
    );
    const { group, weight, used, due, owners } = own;
    return {
      ...{ group, weight, used, due },
      ownerUsed: owners.find((one) => one.owner === owner)?.used ?? 0,
      ownersBefore: waiting.filter((one) => compareUse(ledger.accountOf(one), account) < 0).length,
    };
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A part of a whole to four places; of nothing it is 0. */
function part(of: number, whole: number): number {
  return whole > 0 ? Math.round((of / whole) * 10_000) / 10_000 : 0;
}
