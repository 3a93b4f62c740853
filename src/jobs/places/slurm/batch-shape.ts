import { isJsonObject, type JsonValue } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import { resourcesOf, type JobResources } from '../../manifest/resources.js';
import type { RunOrder } from '../../run/executor.js';
import { limitsOf } from '../../run/run-plan.js';

/** What all tasks of one array have in common: what is asked of Slurm for each. */
export interface BatchShape {
  partition?: string;
  account?: string;
  qos?: string;
  cpus: number;
  memoryMb?: number;
  /** Generic resources of the node, as Slurm writes them: `gpu:2`. */
  gres?: string;
  /** Features that the node must have, as Slurm writes them: `el9&avx512`. */
  constraint?: string;
  /** Seconds that the payload may run; absent in what an older release has stored. */
  wallSeconds?: number;
}

/**
 * What a job needs of Slurm. Its manifest says how many processors, how much memory (`MaxRAM`, else `MinRAM`, else the
 * site's `memoryMb`; never more than the site has), how many GPUs, for how long and which features; the site's options
 * say partition, account, QoS, what GPUs are called (`gres`) and which tags are no features (`constraints`).
 */
export function shapeOf(order: RunOrder, site: Site | undefined, config: Config): BatchShape {
  const options = site?.options ?? {};
  const resources = resourcesOf(order.manifest);
  const asked = {
    partition: textOf(options['partition']) ?? config.slurmPartition,
    account: textOf(options['account']),
    qos: textOf(options['qos']),
    memoryMb: memoryOf(resources, site),
    gres: gresOf(resources, options),
    constraint: constraintOf(resources, options),
  };
  return {
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
    cpus: resources.processors,
    wallSeconds: wallSecondsOf(order, site, config),
  };
}

/** Seconds that a job may run: the least of what it asks for, what its site allows, and what the service does. */
export function wallSecondsOf(
  order: Pick<RunOrder, 'manifest'>,
  site: Site | undefined,
  config: Config,
): number {
  return Math.min(limitsOf(order, config).wallSeconds, site?.maxWallTime ?? Infinity);
}

/** True when both fit into one array. */
export function isSameShape(a: BatchShape, b: BatchShape): boolean {
  return (
    a.partition === b.partition &&
    a.account === b.account &&
    a.qos === b.qos &&
    a.cpus === b.cpus &&
    a.memoryMb === b.memoryMb &&
    a.gres === b.gres &&
    a.constraint === b.constraint &&
    a.wallSeconds === b.wallSeconds
  );
}

/** PATH of the payloads at a site: its option `path`. */
export function pathOf(site: Site | undefined, fallback: string): string {
  return textOf(site?.options['path']) ?? fallback;
}

function memoryOf({ minRamMB, maxRamMB }: JobResources, site: Site | undefined) {
  const wanted = maxRamMB ?? (minRamMB === 0 ? undefined : minRamMB);
  if (wanted === undefined) return numberOf(site?.options['memoryMb']);
  return Math.min(wanted, site?.ramMB ?? Infinity);
}

function gresOf({ gpus }: JobResources, options: Site['options']): string | undefined {
  return gpus === 0 ? undefined : `${textOf(options['gres']) ?? 'gpu'}:${gpus}`;
}

/** A tag asks for the node feature of that name, unless the site's `constraints` name another one, or none (``). */
function constraintOf({ tags }: JobResources, options: Site['options']): string | undefined {
  const given = options['constraints'];
  const names = isJsonObject(given) ? given : {};
  const features = tags.map((tag) => {
    const name = Object.hasOwn(names, tag) ? names[tag] : tag;
    return typeof name === 'string' ? name : tag;
  });
  return features.filter((name) => name !== '').join('&') || undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 1 ? number : undefined;
}
