import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '#src/kernel/index.js';
import { splitArguments } from '../../manifest/arguments.js';
import { environmentOf } from '../../manifest/manifest.js';
import { MINOR } from '../../state/job-state.js';
import type { RunOrder } from '../executor.js';
import { mayExecute, type JobAccount } from './job-account.js';

/** Programs of a site are looked for here; a site's option `path` replaces it. */
export const SITE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A run that cannot be: the job fails with these. */
export class RunFault extends Error {
  constructor(
    readonly minor: string,
    readonly app: string,
    options?: ErrorOptions,
  ) {
    super(`${minor}: ${app}`, options);
    this.name = 'RunFault';
  }
}

/** What of a manifest matters when it runs. */
export interface RunPlan {
  stdout: string;
  stderr: string;
  outputs: string[];
  environment: Record<string, string>;
  arguments: string[];
}

/** Reads the manifest of an order, which was checked when it was submitted. */
export function planOf(order: RunOrder): RunPlan {
  const { manifest } = order;
  const stdout = textOf(manifest['StdOutput'], 'std.out');
  const stderr = textOf(manifest['StdError'], 'std.err');
  return {
    stdout,
    stderr,
    outputs: listOf(manifest['OutputSandbox'] ?? [stdout, stderr]).filter((name) => name !== ''),
    environment: environmentOf(manifest['ExecutionEnvironment'] ?? {}) ?? {},
    arguments: splitArguments(manifest['Arguments'] as string | string[] | undefined),
  };
}

/**
 * The program of a job (contract 10): an uploaded file, which is made executable, an absolute path, or a name on
 * the site's path. Throws RunFault `Application not found`.
 */
export async function findProgram(
  order: RunOrder,
  site: { work: string; path: string; account: JobAccount },
): Promise<string> {
  const name = textOf(order.manifest['Executable'], '');
  const uploaded = name.replace(/^\.\//, '');
  if (listOf(order.manifest['InputSandbox'] ?? []).includes(uploaded)) {
    await chmod(join(site.work, uploaded), 0o755);
    return `./${uploaded}`;
  }
  const candidates = name.startsWith('/')
    ? [name]
    : name.includes('/')
      ? []
      : site.path.split(':').map((directory) => join(directory, name));
  for (const candidate of candidates) {
    if (await mayExecute(candidate, site.account)) return candidate;
  }
  throw new RunFault(MINOR.applicationNotFound, `${name.slice(0, 200)} was not found`);
}

/** Names in the input sandbox that are files of the catalogue, whose content this service does not have. */
export function catalogueInputs(order: RunOrder): string[] {
  return listOf(order.manifest['InputSandbox'] ?? []).filter((name) => /^LFN:/i.test(name));
}

function textOf(value: JsonValue | undefined, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

function listOf(value: JsonValue): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === 'string');
}
