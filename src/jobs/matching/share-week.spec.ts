import type { Site } from '#src/registry/index.js';
import type { Owned, ShareUse } from './fair-share.js';
import { Match } from './match.js';
import { byOrder, laneOf, type QueuedJob } from './queued-job.js';

/** Minutes that the clock jumps; all lengths are in such steps. */
const STEP_MINUTES = 10;
const WEEK = (7 * 24 * 60) / STEP_MINUTES;
const HALF_LIFE = (6 * 60) / STEP_MINUTES;
const LONGEST = (2 * 60) / STEP_MINUTES;
const PLACES = 30;
const SITE: Site = { name: 'A', backend: 'slurm', options: {}, processors: PLACES };

/** Who submits, and between whom it is looked whether they get what they are due. */
interface Community {
  owners: Owned[];
  weights: Record<string, number>;
  partyOf: (owned: Owned) => string;
}

const GROUPS: Community = {
  owners: ['big', 'mid', 'low', 'odd'].flatMap((ownerGroup) =>
    ['a', 'b', 'c'].map((owner) => ({ ownerGroup, owner })),
  ),
  weights: { big: 2, mid: 1, low: 1, odd: 1 },
  partyOf: ({ ownerGroup }) => ownerGroup,
};
const OWNERS: Community = {
  owners: ['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => ({ ownerGroup: 'all', owner })),
  weights: {},
  partyOf: ({ owner }) => owner,
};

interface SimulatedJob extends QueuedJob {
  steps: number;
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

/** A week of bursts of random owners at one site, for which the real matching gives the places. */
class Week {
  private readonly number: () => number;
  private readonly waiting = new Map<string, SimulatedJob[]>();
  private running: { job: SimulatedJob; end: number }[] = [];
  private readonly uses = new Map<string, ShareUse>();
  private readonly debts = new Map<string, Debt>();
  private jid = 0n;
  /** The longest time for which a party was behind, beside what it may be. */
  worst = 0;
  places = 0;

  constructor(
    private readonly community: Community,
    private readonly isShared: boolean,
  ) {
    this.number = random(7);
    for (let now = 0; now < WEEK; now += 1) this.step(now);
  }

  private step(now: number): void {
    if (this.number() < 0.06) this.submit();
    for (const use of this.uses.values()) use.used *= 0.5 ** (1 / HALF_LIFE);
    for (const { job } of this.running) this.useOf(job).used += job.processors * STEP_MINUTES * 60;
    this.running = this.running.filter(({ end }) => end > now);
    for (const use of this.uses.values()) use.held = 0;
    for (const { job } of this.running) this.useOf(job).held += job.processors;
    this.look();
    this.place(now);
  }

  private submit(): void {
    const { owners } = this.community;
    const who = Math.floor(this.number() * owners.length);
    const whose = { ...(owners[who] as Owned), priority: 20 - who };
    const count = 20 + Math.floor(this.number() * 300);
    for (let n = 0; n < count; n += 1) {
      const job: SimulatedJob = {
        ...whose,
        ...{ jid: (this.jid += 1n), shape: 1n, lastUpdate: new Date(0), isUnplaceable: false },
        ...{ setup: 'Prod', wantedSites: [], bannedSites: [], tags: [], wallTime: null },
        ...{ processors: 1, minRamMb: 0, maxRamMb: 0, gpus: 0 },
        steps: 1 + Math.floor(this.number() * LONGEST),
      };
      const lane = this.waiting.get(laneOf(job));
      if (lane) lane.push(job);
      else this.waiting.set(laneOf(job), [job]);
    }
  }

  private place(now: number): void {
    const lanes = [...this.waiting.values()].filter((lane) => lane.length > 0);
    const heads = lanes.map((lane) => lane.sort(byOrder)[0] as SimulatedJob);
    const held = this.running.length;
    const match = new Match({
      ...{ heads, sites: [SITE], limit: 200, now: 0, reserveMs: Infinity },
      machine: { processors: Infinity, ahead: 0, ramMB: Infinity },
      shares: this.isShared
        ? { uses: [...this.uses.values()], weightOf: (group) => this.weightOf(group) }
        : undefined,
      load: () => 0,
    });
    match.note(new Map([['A', { jobs: held, processors: held, ramMB: 0, gpus: 0 }]]));
    const pages = match.pages();
    const read = pages.flatMap((page) => this.waiting.get(laneOf(page))?.slice(0, page.size) ?? []);
    for (const { job } of match.choose(read, pages)) {
      const lane = this.waiting.get(laneOf(job)) ?? [];
      const [taken] = lane.splice(lane.indexOf(job as SimulatedJob), 1);
      if (taken) this.running.push({ job: taken, end: now + taken.steps });
      this.places += 1;
    }
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
  }

  private usedBy(party: string): number {
    const { partyOf } = this.community;
    const uses = [...this.uses.values()].filter((use) => partyOf(use) === party);
    return sumOf(uses.map(({ used }) => used));
  }

  private weightOf(group: string): number {
    return this.community.weights[group] ?? 1;
  }

  private useOf({ ownerGroup, owner }: Owned): ShareUse {
    const key = `${ownerGroup}/${owner}`;
    let use = this.uses.get(key);
    if (!use) this.uses.set(key, (use = { ownerGroup, owner, used: 0, held: 0 }));
    return use;
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe('a week of bursts', () => {
  it.each([
    ['group', GROUPS],
    ['owner', OWNERS],
  ])('leaves no %s behind for longer than it takes to catch up', (_what, community) => {
    const shared = new Week(community, true);
    expect(shared.places).toBeGreaterThan(2_000);
    expect(shared.worst).toBeLessThanOrEqual(1);
    expect(new Week(community, false).worst).toBeGreaterThan(1);
  });
});
