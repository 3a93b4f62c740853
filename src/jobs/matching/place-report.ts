import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import type { JobResources } from '../manifest/resources.js';
import { ownExecutorOf } from '../run/executor.js';
import { DispatchRepository, silenceOf, type LiveExecutor } from './dispatch.repository.js';
import { lackOfMachine } from './machine-lack.js';

const MOST_LACKS = 3;

/** Which places can be used now, as all instances together know. */
@Injectable()
export class PlaceReport {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: DispatchRepository,
  ) {}

  /** Executors that were heard of lately, by id. */
  async live(): Promise<ReadonlyMap<string, LiveExecutor>> {
    return this.repository.liveExecutors(silenceOf(this.config));
  }

  /** Name of each site where nothing can start now → why, as a sentence. */
  async faults(sites: readonly Site[]): Promise<ReadonlyMap<string, string>> {
    const live = await this.live();
    return new Map(
      sites.flatMap((site) => {
        const fault = placeFault(site, live);
        return fault === undefined ? [] : [[site.name, fault] as const];
      }),
    );
  }
}

/** Why nothing can start there now; undefined when jobs can. */
export function placeFault(
  site: Site,
  live: ReadonlyMap<string, LiveExecutor>,
): string | undefined {
  const own = ownExecutorOf(site);
  if (own === undefined) return sharedFault(site, live);
  const executor = live.get(own);
  if (executor === undefined) {
    return site.backend === 'worker'
      ? 'No worker of it is connected'
      : 'No instance of the service looks after it';
  }
  return executor.fault === null ? undefined : unusable(executor.fault);
}

/** Why such a job starts on no machine that is there; undefined when one could hold it. `now` in milliseconds since 1970. */
export function machineFault(
  site: Site,
  wanted: JobResources,
  live: ReadonlyMap<string, LiveExecutor>,
  now: number,
): string | undefined {
  if (site.backend === 'slurm') return undefined;
  const {
    processors,
    gpus: gpusWanted,
    tags,
    minRamMB: minRamMb = 0,
    maxRamMB: maxRamMb = 0,
  } = wanted;
  const wallTime = wanted.wallTimeSeconds ?? null;
  const job = { processors, gpus: gpusWanted, tags, minRamMb, maxRamMb, wallTime };
  if (site.backend === 'worker') {
    const machines = live.get(ownExecutorOf(site) ?? '')?.machines ?? [];
    return workersFault(machines.map((machine) => lackOfMachine(job, site, machine, now)));
  }
  const { gpus = 0 } = site;
  const machines = [...live.values()].flatMap(({ backend, machines: of }) =>
    backend === site.backend ? of : [],
  );
  const most = Math.max(0, ...machines.map((machine) => machine.gpus ?? 0));
  const text = `It declares ${gpus} GPUs and its machine has ${most}: no job that asks for GPUs starts there`;
  return wanted.gpus > 0 && gpus > most ? text : undefined;
}

function workersFault(lacks: readonly (string | undefined)[]): string | undefined {
  if (lacks.includes(undefined)) return undefined;
  const texts = [...new Set(lacks)].map((lack) => `one ${lack}`);
  const more = texts.length - MOST_LACKS;
  const shown = texts.slice(0, MOST_LACKS).join('; ');
  return `None of its workers can hold the job: ${shown}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Of executors that several sites or instances have one is enough. */
function sharedFault(
  { backend }: Site,
  live: ReadonlyMap<string, LiveExecutor>,
): string | undefined {
  const some = [...live].filter(
    ([id, one]) => one.backend === backend && !id.startsWith(`${backend}:`),
  );
  if (some.length === 0) return `No ${backend} executor is running`;
  const faults = some.map(([, { fault }]) => fault);
  return faults.includes(null) ? undefined : unusable(faults[0] ?? '');
}

function unusable(fault: string): string {
  return `It cannot be used now: ${fault}`;
}
