import type { Owned, ShareUse } from '../../src/jobs/matching/fair-share.js';
import { Match } from '../../src/jobs/matching/match.js';
import { byOrder, laneOf, type QueuedJob } from '../../src/jobs/matching/queued-job.js';
import type { Site } from '../../src/registry/index.js';

/** Minutes that the clock jumps; all lengths are in such steps. */
const STEP_MINUTES = 10;
const WEEK = (7 * 24 * 60) / STEP_MINUTES;
const HALF_LIFE = (6 * 60) / STEP_MINUTES;
const LONGEST = (2 * 60) / STEP_MINUTES;
const PLACES = 30;
const SITE: Site = { name: 'A', backend: 'slurm', options: {}, processors: PLACES };

/** Who comes next: by shares as the service does, by priority and age (GRID_SHARES=false), by age alone, and by Slurm's Fair Tree. */
export const POLICIES = ['shares', 'priority', 'first-come', 'fair-tree'] as const;
export type Policy = (typeof POLICIES)[number];

/** Who submits, and between whom it is looked whether they get what they are due. */
export interface Community {
  owners: Owned[];
  weights: Record<string, number>;
  partyOf: (owned: Owned) => string;
}

export const GROUPS: Community = {
  owners: ['big', 'mid', 'low', 'odd'].flatMap((ownerGroup) =>
    ['a', 'b', 'c'].map((owner) => ({ ownerGroup, owner })),
  ),
  weights: { big: 2, mid: 1, low: 1, odd: 1 },
  partyOf: ({ ownerGroup }) => ownerGroup,
};
export const OWNERS: Community = {
  owners: ['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => ({ ownerGroup: 'all', owner })),
  weights: {},
  partyOf: ({ owner }) => owner,
};

interface SimulatedJob extends QueuedJob {
  steps: number;
  /** When it was submitted. */
  at: number;
}

interface Debt {
  steps: number;
  due: number;
}

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A week of bursts of random owners at one site; the same arrivals for the same seed, whoever gives the places. */
export class Week {
  private readonly number: () => number;
  private readonly waiting = new Map<string, SimulatedJob[]>();
  private running: { job: SimulatedJob; end: number }[] = [];
  private readonly uses = new Map<string, ShareUse>();
  private readonly debts = new Map<string, Debt>();
  private jid = 0n;
  /** Of each owner, how long jobs waited, in steps. */
  private readonly waits = new Map<string, number[]>();
  /** The longest time for which a party was behind, beside what it may be. */
  worst = 0;
  /** The longest time for which a party was behind, in hours. */
  behindHours = 0;
  places = 0;

  constructor(
    private readonly community: Community,
    private readonly policy: Policy,
    seed = 7,
  ) {
    this.number = random(seed);
    for (let now = 0; now < WEEK; now += 1) this.step(now);
  }

  /** Mean of how long the jobs of an owner waited, of the one who waited longest; hours. */
  get longestMeanWait(): number {
    const means = [...this.waits.values()].map((steps) => sumOf(steps) / steps.length);
    return (Math.max(...means) * STEP_MINUTES) / 60;
  }

  /** How long half of all jobs waited at most, hours. */
  get medianWait(): number {
    const steps = [...this.waits.values()].flat().sort((a, b) => a - b);
    return ((steps[Math.floor(steps.length / 2)] ?? 0) * STEP_MINUTES) / 60;
  }

  private step(now: number): void {
    if (this.number() < 0.06) this.submit(now);
    for (const use of this.uses.values()) use.used *= 0.5 ** (1 / HALF_LIFE);
    for (const { job } of this.running) this.useOf(job).used += job.processors * STEP_MINUTES * 60;
    this.running = this.running.filter(({ end }) => end > now);
    for (const use of this.uses.values()) use.held = 0;
    for (const { job } of this.running) this.useOf(job).held += job.processors;
    this.look();
    this.place(now);
  }

  private submit(now: number): void {
    const { owners } = this.community;
    const who = Math.floor(this.number() * owners.length);
    const whose = { ...(owners[who] as Owned), priority: 20 - who };
    const count = 20 + Math.floor(this.number() * 300);
    for (let n = 0; n < count; n += 1) {
      const job: SimulatedJob = {
        ...whose,
        ...{ jid: (this.jid += 1n), shape: 1n, lastUpdate: new Date(0) },
        ...{ setup: 'Prod', vo: '', wantedSites: [], bannedSites: [], tags: [], wallTime: null },
        ...{ processors: 1, minRamMb: 0, maxRamMb: 0, gpus: 0 },
        steps: 1 + Math.floor(this.number() * LONGEST),
        at: now,
      };
      const lane = this.waiting.get(laneOf(job));
      if (lane) lane.push(job);
      else this.waiting.set(laneOf(job), [job]);
    }
  }

  private place(now: number): void {
    const taken = this.isMatched ? this.matched() : this.inOrder();
    for (const job of taken) {
      const lane = this.waiting.get(laneOf(job)) ?? [];
      lane.splice(lane.indexOf(job), 1);
      this.running.push({ job, end: now + job.steps });
      this.places += 1;
      const owner = this.keyOf(job);
      const waits = this.waits.get(owner) ?? [];
      this.waits.set(owner, waits);
      waits.push(now - job.at);
    }
  }

  /** By the matching of the service. */
  private matched(): SimulatedJob[] {
    const lanes = [...this.waiting.values()].filter((lane) => lane.length > 0);
    const heads = lanes.map((lane) => lane.sort(byOrder)[0] as SimulatedJob);
    const held = this.running.length;
    const match = new Match({
      ...{ heads, sites: [SITE], limit: 200, now: 0, reserveMs: Infinity },
      machine: { processors: Infinity, ahead: 0, ramMB: Infinity },
      shares:
        this.policy === 'shares'
          ? { uses: [...this.uses.values()], weightOf: (group) => this.weightOf(group) }
          : undefined,
      load: () => 0,
    });
    match.note(new Map([['A', { jobs: held, processors: held, ramMB: 0, gpus: 0 }]]));
    const pages = match.pages();
    const read = pages.flatMap((page) => this.waiting.get(laneOf(page))?.slice(0, page.size) ?? []);
    return match.choose(read, pages).map(({ job }) => job as SimulatedJob);
  }

  /** By an order that is made once a step, as batch systems do. */
  private inOrder(): SimulatedJob[] {
    const free = PLACES - this.running.length;
    const rank = this.policy === 'fair-tree' ? this.fairTree() : new Map<string, number>();
    const rankOf = (job: Owned): number => rank.get(this.keyOf(job)) ?? 0;
    return [...this.waiting.values()]
      .flatMap((lane) => lane.slice(0, free))
      .sort((a, b) => rankOf(a) - rankOf(b) || Number(BigInt(a.jid) - BigInt(b.jid)))
      .slice(0, free);
  }

  /**
   * Places of owners by Slurm's Fair Tree (priority/multifactor, its default): accounts by share beside use, within each its
   * users likewise. Age only decides within one owner.
   */
  private fairTree(): Map<string, number> {
    const { owners, weights } = this.community;
    const groups = [...new Set(owners.map(({ ownerGroup }) => ownerGroup))];
    const used = (isOf: (use: ShareUse) => boolean): number =>
      sumOf([...this.uses.values()].filter(isOf).map((use) => use.used));
    const levels = groups.map((group) => ({
      group,
      level: used(({ ownerGroup }) => ownerGroup === group) / (weights[group] ?? 1),
    }));
    const places = levels
      .sort((a, b) => a.level - b.level)
      .flatMap(({ group }) =>
        owners
          .filter(({ ownerGroup }) => ownerGroup === group)
          .map((owned) => ({ owned, level: used((use) => this.keyOf(use) === this.keyOf(owned)) }))
          .sort((a, b) => a.level - b.level),
      );
    return new Map(places.map(({ owned }, place) => [this.keyOf(owned), place]));
  }

  /** Who has waiting jobs and has had less than is due? Those behind have it all together. */
  private look(): void {
    const { partyOf } = this.community;
    const heads = [...this.waiting.values()].flatMap((lane) => lane[0] ?? []);
    const waiting = new Set(heads.map(partyOf));
    const weights = new Map(
      [...heads, ...this.running.map(({ job }) => job)].map((job) => [
        partyOf(job),
        this.weightOf(job.ownerGroup),
      ]),
    );
    const used = new Map([...weights.keys()].map((party) => [party, this.usedBy(party)]));
    const [whole, all] = [sumOf([...weights.values()]), sumOf([...used.values()])];
    const behind = [...waiting].filter(
      (party) => (used.get(party) ?? 0) / all < (weights.get(party) ?? 0) / whole - 0.02,
    );
    const due = sumOf(behind.map((party) => weights.get(party) ?? 0)) / whole;
    for (const party of [...this.debts.keys()]) {
      if (!behind.includes(party)) this.debts.delete(party);
    }
    for (const party of behind) this.note(party, due);
  }

  /** Who gets everything has a part of 1 - 2^-n after n half-lives; what runs is waited for before. */
  private note(party: string, due: number): void {
    const before = this.debts.get(party) ?? { steps: 0, due: 0 };
    const debt = { steps: before.steps + 1, due: Math.max(before.due, due) };
    this.debts.set(party, debt);
    const allowed = HALF_LIFE * -Math.log2(1 - Math.min(0.99, debt.due)) + LONGEST;
    this.worst = Math.max(this.worst, debt.steps / allowed);
    this.behindHours = Math.max(this.behindHours, (debt.steps * STEP_MINUTES) / 60);
  }

  private usedBy(party: string): number {
    const { partyOf } = this.community;
    const uses = [...this.uses.values()].filter((use) => partyOf(use) === party);
    return sumOf(uses.map(({ used }) => used));
  }

  private weightOf(group: string): number {
    return this.community.weights[group] ?? 1;
  }

  private get isMatched(): boolean {
    return this.policy === 'shares' || this.policy === 'priority';
  }

  private keyOf({ ownerGroup, owner }: Owned): string {
    return `${ownerGroup}/${owner}`;
  }

  private useOf({ ownerGroup, owner }: Owned): ShareUse {
    const key = this.keyOf({ ownerGroup, owner });
    let use = this.uses.get(key);
    if (!use) this.uses.set(key, (use = { ownerGroup, owner, used: 0, held: 0 }));
    return use;
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
