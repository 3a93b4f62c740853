import type { Site } from '#src/registry/index.js';
import type { FreeMachine } from '../run/executor.js';
import { lackOfMachine, ramOf } from './machine-lack.js';
import type { Wishes } from './shape.js';

/** What the jobs of a site take, all instances together. */
export interface SiteUse {
  jobs: number;
  processors: number;
  ramMB: number;
  gpus: number;
  /** Tag that the registry limits → jobs that ask for it. */
  tags?: Readonly<Record<string, number>> | null;
}

interface Free extends Omit<SiteUse, 'tags'> {
  /** Tag → jobs that may still start. */
  tags: Map<string, number>;
}

/** What is free at the sites of an executor, and on its machine; counted down as jobs are given their places. */
export class SiteCapacity {
  private readonly sites = new Map<string, Free>();
  private readonly reserved = new Set<string>();
  private readonly machine: FreeMachine;

  constructor(
    sites: readonly Site[],
    used: ReadonlyMap<string, SiteUse>,
    machine: FreeMachine,
    private readonly now: number,
  ) {
    this.machine = { ...machine };
    for (const site of sites) this.sites.set(site.name, freeOf(site, used.get(site.name)));
  }

  /** True when such a job could start there now. */
  fits(job: Wishes, site: Site): boolean {
    return (
      this.fitsSite(job, site) &&
      this.couldHold(job, site) &&
      isEnough(this.machine.ramMB, ramOf(job, site)) &&
      isEnough(this.machine.gpus ?? Infinity, job.gpus) &&
      this.fitsMachine(job.processors)
    );
  }

  /** The tag of the job of which no more may run there. */
  tagReached(job: Pick<Wishes, 'tags'>, site: Site): string | undefined {
    const room = this.sites.get(site.name);
    return job.tags.find((tag) => (room?.tags.get(tag) ?? Infinity) < 1);
  }

  /** Gives the job its place there. */
  take(job: Wishes, site: Site): void {
    this.takeOfSite(job, site);
    this.takeOfMachine(job, site);
  }

  /**
   * Keeps what the job needs there from those behind it, until it fits; one job at a time for each site. Where the site's own room is
   * full none of the machine is kept: others use it until the job could start. False when something is kept for another one.
   */
  reserve(job: Wishes, site: Site): boolean {
    if (this.reserved.has(site.name) || !this.couldHold(job, site)) return false;
    this.reserved.add(site.name);
    const isMachineShort = this.fitsSite(job, site);
    this.takeOfSite(job, site);
    if (isMachineShort) {
      this.takeOfMachine(job, site);
      this.machine.ahead = 0;
    }
    return true;
  }

  /** Whether the machine could hold the job if nothing else ran there. */
  private couldHold(job: Wishes, site: Site): boolean {
    const { whole, mostGpus = Infinity } = this.machine;
    // Where a site declares more GPUs than the machine has, nobody knows which are there.
    if (job.gpus > 0 && (site.gpus ?? 0) > mostGpus) return false;
    return whole === undefined || lackOfMachine(job, site, whole, this.now) === undefined;
  }

  /** Whether the site's own room is enough, whatever is free on the machine. */
  private fitsSite(job: Wishes, site: Site): boolean {
    const room = this.sites.get(site.name);
    return (
      room !== undefined &&
      room.jobs >= 1 &&
      job.processors <= room.processors &&
      isEnough(room.ramMB, ramOf(job, site)) &&
      isEnough(room.gpus, job.gpus) &&
      this.tagReached(job, site) === undefined
    );
  }

  private takeOfSite(job: Wishes, site: Site): void {
    const room = this.sites.get(site.name);
    if (!room) return;
    room.jobs -= 1;
    room.processors -= job.processors;
    room.ramMB -= ramOf(job, site);
    room.gpus -= job.gpus;
    for (const tag of job.tags) {
      const left = room.tags.get(tag);
      if (left !== undefined) room.tags.set(tag, left - 1);
    }
  }

  private takeOfMachine(job: Wishes, site: Site): void {
    this.machine.processors -= job.processors;
    this.machine.ramMB -= ramOf(job, site);
    if (this.machine.gpus !== undefined) this.machine.gpus -= job.gpus;
  }

  /** Only jobs of one processor are prepared ahead: they start one by one as others end. */
  private fitsMachine(processors: number): boolean {
    const { machine } = this;
    if (processors <= machine.processors) return true;
    return processors === 1 && machine.processors + machine.ahead >= 1;
  }
}

/** What a job does not need it does not lack, also where more is kept for others than there is. */
function isEnough(free: number, wanted: number): boolean {
  return wanted === 0 || wanted <= free;
}

function freeOf(site: Site, used: SiteUse | undefined): Free {
  const rest = (declared: number | undefined, taken = 0): number => (declared ?? Infinity) - taken;
  return {
    jobs: Math.min(rest(site.slots, used?.jobs), rest(site.limits?.running, used?.jobs)),
    processors: rest(site.processors, used?.processors),
    ramMB: rest(site.ramMB, used?.ramMB),
    gpus: rest(site.gpus, used?.gpus),
    tags: new Map(
      Object.entries(site.limits?.tags ?? {}).map(([tag, most]) => [
        tag,
        most - (used?.tags?.[tag] ?? 0),
      ]),
    ),
  };
}

/** True when jobs of all instances together are counted at the site. */
export function isCounted(site: Site): boolean {
  const { slots, processors, ramMB, gpus, limits } = site;
  return [slots, processors, ramMB, gpus, limits?.running, limits?.tags].some(
    (declared) => declared !== undefined,
  );
}
