import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/index.js';
import { SiteSecrets, WorkersService, type WorkerReport } from '../../jobs/index.js';
import { group } from '../terminal/command.js';
import { listOf, thing } from '../terminal/output-format.js';
import { say, tell } from '../terminal/output.js';
import { onService, type CliContext } from './context.js';
import { workerRunCommand } from './worker-run.command.js';

const SITE = ['<site>', 'name of the site'] as const;
const WORKER = ['<worker>', 'id of the worker'] as const;
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;
const HERE_ALONE =
  'no other machine reaches the service by that address: GRID_PUBLIC_URL, as the service has it, says another one';
/** More than there are. */
const ALL = 1_000_000;

/** `gridgate site secret add|list|revoke`: with what workers enrol. */
export const siteSecretCommand = group('secret', 'with what workers enrol at a site', [
  onService('add', 'a new secret, shown this one time, with the line that will start a worker', {
    args: [SITE],
    options: [['--reusable', 'for any number of workers; else for the first one that uses it']],
    show: async (service, site, { reusable = false }) => {
      const { config } = service;
      const by = userInfo().username;
      const made = await (await service.get(SiteSecrets)).add(site, { reusable, by });
      const ca = await developmentAuthority(config);
      const start = { server: config.publicUrl, site, ...(ca !== undefined && { ca }) };
      const command = startingLine({ ...start, secret: made.secret });
      const { hostname } = new URL(config.publicUrl);
      if (LOOPBACK.test(hostname)) tell(HERE_ALONE);
      const value = { ...made, reusable, ...start, command };
      return { value, lines: [command], names: [made.id] };
    },
  }),
  onService('list', 'the secrets of a site, without themselves', {
    args: [SITE],
    show: async (service, site) => {
      const secrets = await (await service.get(SiteSecrets)).list(site);
      return listOf({ secrets }, secrets, {
        ...{ SECRET: 'id', STATE: 'state', WORKERS: 'workers' },
        ...{ CREATED: 'createdAt', BY: 'createdBy', REVOKED: 'revokedAt' },
      });
    },
  }),
  onService('revoke', 'nobody enrols with it any more; its workers stay', {
    args: [SITE, ['[secret]', 'its id; left out: all of the site']],
    options: [['--with-workers', 'the workers that have shown it last are gone, too']],
    show: async (service, site, id, { withWorkers = false }) => {
      const secrets = await service.get(SiteSecrets);
      const done = await secrets.revoke(site, { id, withWorkers });
      return thing(done, done.secrets);
    },
  }),
]);

/** `gridgate worker run|list|drain|revoke`: the programs that run jobs of sites. */
export const workerCommand = group('worker', 'programs that run jobs of sites', [
  workerRunCommand,
  onService('list', 'those that are there, and those that went within the last day', {
    options: [['--site <name>', 'only those of this site']],
    show: async (service, { site }) => {
      const workers = await (await service.get(WorkersService)).list({ site, limit: ALL });
      return workersShown(workers.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b))));
    },
  }),
  onService('drain', 'give a worker no more jobs; what it runs goes on', {
    args: [WORKER],
    show: async (service, id) =>
      workersShown([await (await service.get(WorkersService)).drain(id)]),
  }),
  onService('revoke', 'a worker is gone; so is the secret that was for it alone', {
    args: [WORKER],
    run: async (service: CliContext, id) => {
      await (await service.get(WorkersService)).remove(id);
      say(`revoked ${id}`);
    },
  }),
]);

function workersShown(workers: WorkerReport[]): ReturnType<typeof listOf> {
  return listOf(
    { workers },
    workers,
    {
      ...{ WORKER: 'id', SITE: 'site', NAME: 'name', STATE: 'state', ISOLATION: 'isolation' },
      ...{ VERSION: 'version', SEEN: 'seenAt' },
    },
    {
      ...{ PROCESSORS: 'processors', RAM_MB: 'ramMB', GPUS: 'gpus', TAGS: 'tags' },
      ...{ CGROUP: 'memoryCgroup', ENDS: 'endsAt', FAULT: 'fault', SECRET: 'secret' },
    },
  );
}

function orderOf({ site, name, id }: WorkerReport): string {
  return `${site}\0${name}\0${id}`;
}

/** Fingerprint of the development CA, where the server has its certificate from that: no machine knows it. */
async function developmentAuthority(config: Config): Promise<string | undefined> {
  const { useDevelopmentCa, tlsMode, tlsCertificate, homePath } = config;
  if (!useDevelopmentCa || tlsMode !== 'on' || tlsCertificate !== undefined) return undefined;
  const { raw } = new X509Certificate(await readFile(join(homePath, 'pki', 'ca.crt')));
  return `sha256:${createHash('sha256').update(raw).digest('hex')}`;
}

/** The secret comes over a pipe from a word of the shell's own, so that no list of processes shows it. */
function startingLine(
  start: Record<'server' | 'site' | 'secret', string> & { ca?: string },
): string {
  const { server, site, secret, ca } = start;
  const options = ['--server', server, '--site', site, ...(ca === undefined ? [] : ['--ca', ca])];
  const words = ['gridgate', 'worker', 'run', ...options, '--directory', 'gridgate-worker'];
  return `printf %s ${secret} | ${words.map(quoted).join(' ')} --secret-file -`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
