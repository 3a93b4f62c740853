import { userInfo } from 'node:os';
import { SiteReports, type SiteReport } from '../../administration/index.js';
import {
  DrainFault,
  RegistryLoader,
  RegistryService,
  SITE_BACKENDS,
  withChangedEntry,
  withEntry,
  withoutSite,
} from '../../registry/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, type Shown } from '../terminal/output-format.js';
import { emit } from '../terminal/output.js';
import { pairOf, readText } from '../terminal/reading.js';
import { onNewService, onService, type CliContext } from './context.js';
import { siteSecretCommand } from './worker.commands.js';
import { changeRegistry, differenceOf } from './registry-change.js';

const FILE = ['<file>', 'registry file, - for standard input'] as const;
/** `gridgate registry list|show|check|load`: who exists, as one YAML file. */
export const registryCommand = group('registry', 'who exists, as one YAML file', [
  onService('list', 'every entry, by section and name', {
    show: async (service) => {
      const { contents } = await (await service.get(RegistryService)).current();
      const entries = Object.entries(contents).flatMap(([section, items]) =>
        (items as readonly object[]).map((item) => ({ section, name: nameOf(item) })),
      );
      const shown = listOf({ entries }, entries, { SECTION: 'section', NAME: 'name' });
      return { ...shown, names: entries.map(({ section, name }) => `${section}.${name}`) };
    },
  }),
  onService('show', 'print the registry as a file that load takes', {
    aliases: ['dump'],
    run: async (service) => {
      emit((await (await service.get(RegistryLoader)).dump()).trimEnd());
    },
  }),
  onService('check', 'print what load would change, without changing it', {
    args: [FILE],
    show: async (service, file) => {
      const text = await readText(file);
      return differenceOf(service, (loader) => loader.check(text), file);
    },
  }),
  onNewService('load', 'make the registry what the file says and print the difference', {
    args: [FILE],
    show: async (service, file) => {
      const text = await readText(file);
      return differenceOf(service, (loader) => loader.load(text), file);
    },
  }),
]);

/** Applications have an id, shares a group. */
function nameOf(item: { name?: string; id?: string; group?: string }): string {
  return item.name ?? item.id ?? item.group ?? '';
}

const SITE = ['<site>', 'name of the site'] as const;
const SITE_OPTIONS = [
  ['--setup <name>', 'setup whose jobs it runs', { repeated: true }],
  ['--vo <name>', 'virtual organisation whose jobs it runs', { repeated: true }],
  ['--slots <count>', 'jobs at once'],
  ['--processors <count>', 'processors for all of its jobs'],
  ['--ram-mb <count>', 'memory for all of its jobs, in MB'],
  ['--gpus <count>', 'GPUs for all of its jobs'],
  ['--tag <name>', 'what jobs may ask for by name', { repeated: true }],
  ['--max-wall-time <seconds>', 'how long a job may run'],
  ['--network <kind>', 'what jobs of a local site reach: none or host'],
  ['--option <key=value>', 'setting of the backend', { repeated: true }],
] as const;
const KIND = `what runs its jobs: ${SITE_BACKENDS.join(', ')}`;

/** `gridgate site list|show|add|change|remove|drain|resume|secret`: where jobs run, and which sites get new ones. */
export const siteCommand = group('site', 'where jobs run, and which sites get new ones', [
  onService('list', 'all sites: which cannot be used now, which are drained by whom and why', {
    show: (service) => reported(service, (reports) => reports.all()),
  }),
  onService('show', 'the sites, or one of them', {
    args: [['[site]', 'only this one']],
    show: (service, site) =>
      reported(service, async (reports) =>
        site === undefined ? reports.all() : [await reports.one(site)],
      ),
  }),
  onService('add', 'a new site; one with a cluster of its own is added by the registry file', {
    args: [['<site>', 'its name']],
    options: [['--backend <kind>', KIND, { required: true }], ...SITE_OPTIONS],
    show: (service, name, options) => {
      const body = bodyOf(options);
      return changeRegistry(service, (it) => withEntry(it, 'sites', name, body));
    },
  }),
  onService(
    'change',
    'change what is said of a site; what is left out stays, an empty text takes away',
    {
      args: [SITE],
      options: [['--backend <kind>', KIND], ...SITE_OPTIONS],
      show: (service, name, options) => {
        const changes = bodyOf(options);
        return changeRegistry(service, (it) => withChangedEntry(it, 'sites', name, changes));
      },
    },
  ),
  onService('remove', 'remove a site, with its drain; what runs there goes on to its end', {
    args: [SITE],
    show: (service, name) => changeRegistry(service, (it) => withoutSite(it, name)),
  }),
  onService('drain', 'give a site no new jobs; what runs there goes on', {
    args: [SITE],
    options: [['--reason <text>', 'for users, whose jobs wait', { default: '' }]],
    show: (service, site, { reason }) =>
      reported(service, async (reports) => [
        await reports.drain(site, { by: userInfo().username, reason }),
      ]),
  }),
  onService('resume', 'give a drained site jobs again', {
    args: [SITE],
    show: (service, site) => reported(service, async (reports) => [await reports.resume(site)]),
  }),
  siteSecretCommand,
]);

/** What the file would say of the site: what was not given is undefined, what was given as an empty text null. */
function bodyOf({
  backend,
  ...options
}: OptionsOf<typeof SITE_OPTIONS> & { backend: string | undefined }): object {
  const { setup, vo, slots, processors, ramMb, gpus, tag, maxWallTime, network, option } = options;
  const counts = { slots, processors, ramMB: ramMb, gpus, maxWallTime };
  const settings = listFrom(option);
  return {
    ...{ backend, setups: listFrom(setup), vos: listFrom(vo), tags: listFrom(tag) },
    network: network === '' ? null : network,
    ...Object.fromEntries(Object.entries(counts).map(([name, text]) => [name, countOf(text)])),
    options: settings && Object.fromEntries(settings.map(settingOf)),
  };
}

function listFrom(words: string[]): string[] | null | undefined {
  if (words.length === 0) return undefined;
  return words.every((word) => word === '') ? null : words;
}

/** What is no number is refused where the file is read. */
function countOf(text: string | undefined): number | string | null | undefined {
  if (text === '') return null;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function settingOf(word: string): [string, number | string | null | undefined] {
  const [key, value] = pairOf(word, '--option ');
  return [key, countOf(value)];
}

async function reported(
  service: CliContext,
  work: (reports: SiteReports) => Promise<SiteReport[]>,
): Promise<Shown> {
  try {
    const sites = await work(await service.get(SiteReports));
    return listOf({ sites }, sites, {
      SITE: 'name',
      BACKEND: 'backend',
      VOS: 'vos',
      STATE: 'state',
      SINCE: 'since',
      BY: 'by',
      REASON: 'reason',
      CLUSTER: 'cluster',
      FAULT: 'fault',
    });
  } catch (error) {
    if (!(error instanceof DrainFault)) throw error;
    throw new CommandError(error.message, 2, '`gridgate site list` shows all');
  }
}
