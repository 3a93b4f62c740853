import { Injectable } from '@nestjs/common';
import type { RegistrySnapshot } from '#src/registry/index.js';
import { compareUse, ShareLedger, type Owned } from './fair-share.js';
import { LanesRepository } from './lanes.repository.js';
import { ShareBook } from './share-book.js';

/** Of more owners the others are not counted. */
const MOST_OWNERS = 10_000;

/** Where an owner stands; shares are parts of 1. */
export interface ShareStanding {
  group: string;
  weight: number;
  /** What the group has had of all that was used lately. */
  used: number;
  /** What it is due, of the groups that have used something lately or wait. */
  due: number;
  /** What the owner has had of what the group has used. */
  ownerUsed: number;
  /** Owners with waiting jobs who come before. */
  ownersBefore: number;
}

/** Says where owners stand in the sharing of places. */
@Injectable()
export class ShareStandings {
  constructor(
    private readonly book: ShareBook,
    private readonly lanes: LanesRepository,
  ) {}

  /**
   * Where the owner of a waiting job stands, beside the group's own owners and those of these groups, or of all when none are
   * told; undefined when places are not shared.
   */
  async standingOf(
    owned: Owned,
    registry: RegistrySnapshot,
    counted?: ReadonlySet<string>,
  ): Promise<ShareStanding | undefined> {
    const all = await this.book.current(registry);
    if (!all) return undefined;
    const group = owned.ownerGroup;
    const counts = ({ ownerGroup }: Owned): boolean =>
      !counted || ownerGroup === group || counted.has(ownerGroup);
    const shares = { ...all, uses: all.uses.filter(counts) };
    const owners = (await this.lanes.owners(MOST_OWNERS)).filter(counts);
    const waiting = ownersOf([...owners, owned]);
    const ledger = new ShareLedger(shares);
    const own = ledger.accountOf(owned);
    const groups = new Set([...shares.uses, ...waiting].map(({ ownerGroup }) => ownerGroup));
    const weights = sum([...groups].map((name) => shares.weightOf(name)));
    const usedBy = (which: (one: Owned) => boolean): number =>
      sum(shares.uses.filter(which).map(({ used }) => used));
    const ofGroup = usedBy((one) => one.ownerGroup === group);
    const ofOwner = usedBy((one) => one.ownerGroup === group && one.owner === owned.owner);
    return {
      group,
      weight: shares.weightOf(group),
      used: part(
        ofGroup,
        usedBy(() => true),
      ),
      due: part(shares.weightOf(group), weights),
      ownerUsed: part(ofOwner, ofGroup),
      ownersBefore: waiting.filter((one) => compareUse(ledger.accountOf(one), own) < 0).length,
    };
  }
}

/** Each owner in each group once. */
function ownersOf(jobs: readonly Owned[]): Owned[] {
  return [...new Map(jobs.map((job) => [`${job.ownerGroup}\n${job.owner}`, job])).values()];
}

/** All of them together. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A part of a whole to four places; of nothing it is 0. */
export function part(of: number, whole: number): number {
  return whole > 0 ? Math.round((of / whole) * 10_000) / 10_000 : 0;
}
