import type { Site } from '#src/registry/index.js';
import { missingTags } from '../manifest/resources.js';
import type { WholeMachine } from '../run/executor.js';
import type { Wishes } from './shape.js';

/** What a job asks of a machine. */
export type MachineWishes = Pick<
  Wishes,
  'processors' | 'minRamMb' | 'maxRamMb' | 'gpus' | 'tags' | 'wallTime'
>;

/** A job that is given to a machine does not start that moment. */
const SPARE_SECONDS = 60;

/** MB that the job takes: what it may use at most, else what it needs at least; never more than there is. */
export function ramOf(job: Pick<Wishes, 'minRamMb' | 'maxRamMb'>, site: Site): number {
  const wanted = job.maxRamMb > 0 ? job.maxRamMb : job.minRamMb;
  return Math.min(wanted, site.ramMB ?? Infinity);
}

/**
 * What keeps the machine from ever running such a job, as the end of a sentence about it; undefined when it could hold it. `now` in
 * milliseconds since 1970.
 */
export function lackOfMachine(
  job: MachineWishes,
  site: Site,
  machine: WholeMachine,
  now: number,
): string | undefined {
  const { processors = Infinity, ramMB = Infinity, gpus = Infinity, tags } = machine;
  if (job.processors > processors) return `has ${processors} processors`;
  if (ramOf(job, site) > ramMB) return `has ${ramMB} MB of memory`;
  if (job.gpus > gpus) return `has ${gpus} GPUs`;
  const missing = tags && missingTags(job.tags, tags);
  if (missing?.length) return `does not have ${missing.join(', ')}`;
  return lackOfTime(job, machine, now);
}

function lackOfTime(
  { wallTime }: MachineWishes,
  { endsAt, wallSeconds = Infinity }: WholeMachine,
  now: number,
): string | undefined {
  if (endsAt === undefined) return undefined;
  const seconds = Math.floor((Date.parse(endsAt) - now) / 1000) - SPARE_SECONDS;
  const wanted = Math.min(wallTime ?? Infinity, wallSeconds);
  if (wanted <= seconds) return undefined;
  const has = `takes jobs of at most ${Math.max(0, seconds)} s, as it ends at ${endsAt}`;
  return wallTime === null ? `${has}: say WallTime` : has;
}
