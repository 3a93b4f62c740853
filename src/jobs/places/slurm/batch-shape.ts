import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import type { Config } from '#src/platform/index.js';
import type { Site } from '#src/registry/index.js';
import type { RunOrder } from '../../run/executor.js';

/** What all tasks of one array have in common: what is asked of Slurm for each. */
export interface BatchShape {
  partition?: string;
  account?: string;
  qos?: string;
  cpus: number;
  memoryMb?: number;
}

/**
 * What a job needs of Slurm: processors of the manifest; partition, account, QoS and memory of the site's options,
 * else of the configuration.
 */
export function shapeOf(order: RunOrder, site: Site | undefined, config: Config): BatchShape {
  const options = site?.options ?? {};
  const partition = textOf(options['partition']) ?? config.slurmPartition;
  const account = textOf(options['account']);
  const qos = textOf(options['qos']);
  const memoryMb = numberOf(options['memoryMb']);
  return {
    ...(partition === undefined ? {} : { partition }),
    ...(account === undefined ? {} : { account }),
    ...(qos === undefined ? {} : { qos }),
    cpus: cpusOf(order.manifest),
    ...(memoryMb === undefined ? {} : { memoryMb }),
  };
}

/** True when both fit into one array. */
export function isSameShape(a: BatchShape, b: BatchShape): boolean {
  return (
    a.partition === b.partition &&
    a.account === b.account &&
    a.qos === b.qos &&
    a.cpus === b.cpus &&
    a.memoryMb === b.memoryMb
  );
}

/** PATH of the payloads at a site: its option `path`. */
export function pathOf(site: Site | undefined, fallback: string): string {
  return textOf(site?.options['path']) ?? fallback;
}

function cpusOf(manifest: JsonObject): number {
  return (
    numberOf(manifest['NumberOfProcessors']) ?? numberOf(manifest['MinNumberOfProcessors']) ?? 1
  );
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 1 ? number : undefined;
}
