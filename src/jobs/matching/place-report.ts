import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import { ownExecutorOf } from '../run/executor.js';
import { DispatchRepository, silenceOf, type LiveExecutor } from './dispatch.repository.js';

/** Which places can be used now, as all instances together know. */
@Injectable()
export class PlaceReport {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: DispatchRepository,
  ) {}

  /** Name of each site where nothing can start now → why, as a sentence. */
  async faults(sites: readonly Site[]): Promise<ReadonlyMap<string, string>> {
    const live = await this.repository.liveExecutors(silenceOf(this.config));
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

/** Why a job that asks for so many GPUs starts on no machine that is there; undefined when that does not keep it. */
export function gpuFault(
  site: Site,
  wanted: number,
  live: ReadonlyMap<string, LiveExecutor>,
): string | undefined {
  const { backend, gpus = 0 } = site;
  const own = ownExecutorOf(site);
  if (wanted === 0 || backend === 'slurm') return undefined;
  const places = [...live].filter(([id, one]) =>
    own === undefined ? one.backend === backend : id === own,
  );
  const most = Math.max(0, ...places.map(([, one]) => one.gpus ?? 0));
  if (backend === 'worker') {
    return wanted > most ? `None of its workers has so many GPUs: the most is ${most}` : undefined;
  }
  const text = `It declares ${gpus} GPUs and its machine has ${most}: no job that asks for GPUs starts there`;
  return gpus > most ? text : undefined;
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
