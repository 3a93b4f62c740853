import { Injectable } from '@nestjs/common';
import { RegistryService } from '#src/registry/index.js';
import type { Owned, ShareUse } from './fair-share.js';
import { QueueRepository } from './queue.repository.js';
import { ShareBook } from './share-book.js';
import { part, sum } from './share-standings.js';

/** Lanes that are looked at for who waits. */
const MAX_LANES = 1_000;

/** What somebody has had and is due, as parts of 1. */
interface Share {
  /** Of what was used lately. */
  used: number;
  /** Beside the others that have used something lately or wait. */
  due: number;
  /** Processor-seconds, older ones counting less. */
  seconds: number;
  /** Processors of the jobs that sites have been given. */
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
    private readonly queue: QueueRepository,
    private readonly registry: RegistryService,
  ) {}

  /** Groups by name; undefined when places are not shared. */
  async read(): Promise<GroupShare[] | undefined> {
    const shares = await this.book.current(await this.registry.current());
    if (!shares) return undefined;
    const waiting = await this.queue.heads(undefined, MAX_LANES);
    const everybody: readonly Owned[] = [...shares.uses, ...waiting];
    const names = [...new Set(everybody.map(({ ownerGroup }) => ownerGroup))].sort();
    const weights = sum(names.map((name) => shares.weightOf(name)));
    const all = sum(shares.uses.map(({ used }) => used));
    return names.map((group) => {
      const isOf = ({ ownerGroup }: Owned): boolean => ownerGroup === group;
      const uses = shares.uses.filter(isOf);
      const weight = shares.weightOf(group);
      const waits = waiting.filter(isOf);
      return {
        ...{ group, weight, ...shareOf(uses, all, waits) },
        due: part(weight, weights),
        owners: ownersOf(uses, waits),
      };
    });
  }
}

function ownersOf(uses: readonly ShareUse[], waiting: readonly Owned[]): OwnerShare[] {
  const names = [...new Set([...uses, ...waiting].map(({ owner }) => owner))].sort();
  const all = sum(uses.map(({ used }) => used));
  return names.map((owner) => {
    const isOf = (one: Owned): boolean => one.owner === owner;
    const share = shareOf(uses.filter(isOf), all, waiting.filter(isOf));
    return { owner, ...share, due: part(1, names.length) };
  });
}

function shareOf(
  uses: readonly ShareUse[],
  all: number,
  waiting: readonly Owned[],
): Omit<Share, 'due'> {
  const seconds = sum(uses.map(({ used }) => used));
  return {
    used: part(seconds, all),
    seconds: Math.round(seconds),
    held: sum(uses.map(({ held }) => held)),
    isWaiting: waiting.length > 0,
  };
}
