import { userInfo } from 'node:os';
import { Command } from 'commander';
import { SiteReports, type SiteReport } from '../../administration/index.js';
import { DrainFault, withChangedEntry, withEntry, withoutSite } from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { changeSections } from './registry-change.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';

interface SiteOptions extends Printing {
  backend?: string;
  setup?: string[];
  slots?: string;
  processors?: string;
  ramMb?: string;
  gpus?: string;
  tag?: string[];
  maxWallTime?: string;
  network?: string;
  option?: string[];
}

/** `gridgate site add|change|remove|drain|resume|show`: where jobs run, and which sites get new ones. */
export function siteCommand(context: CliContext): Command {
  const command = new Command('site').description('where jobs run, and which sites get new ones');
  command.addCommand(addCommand(context));
  command.addCommand(changeCommand(context));
  command.addCommand(removeCommand(context));
  command
    .command('drain')
    .description('give a site no new jobs; what runs there goes on')
    .argument('<site>', 'name of the site')
    .option('--reason <text>', 'for users, whose jobs wait', '')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((site: string, options: Printing & { reason: string }) =>
      answer(context, options, async (reports) => [
        await reports.drain(site, { by: userInfo().username, reason: options.reason }),
      ]),
    );
  command
    .command('resume')
    .description('give a drained site jobs again')
    .argument('<site>', 'name of the site')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((site: string, options: Printing) =>
      answer(context, options, async (reports) => [await reports.resume(site)]),
    );
  command
    .command('show')
    .description(
      'the sites: how they are reached, which cannot be used now, which are drained by whom and why',
    )
    .argument('[site]', 'only this one')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((site: string | undefined, options: Printing) =>
      answer(context, options, async (reports) =>
        site === undefined ? reports.all() : [await reports.one(site)],
      ),
    );
  return command;
}

function addCommand(context: CliContext): Command {
  const command = new Command('add')
    .description('a new site; one with a cluster of its own is added by the registry file')
    .argument('<site>', 'its name')
    .requiredOption('--backend <kind>', 'what runs its jobs: local-process or slurm');
  return membersOf(command).action((name: string, options: SiteOptions) => {
    const body = bodyOf(options);
    return changeSections(context, options, (it) => withEntry(it, 'sites', name, body));
  });
}

function changeCommand(context: CliContext): Command {
  const command = new Command('change')
    .description('change what is said of a site; what is left out stays, an empty text takes away')
    .argument('<site>', 'name of the site')
    .option('--backend <kind>', 'what runs its jobs: local-process or slurm');
  return membersOf(command).action((name: string, options: SiteOptions) => {
    const changes = bodyOf(options);
    return changeSections(context, options, (it) => withChangedEntry(it, 'sites', name, changes));
  });
}

function removeCommand(context: CliContext): Command {
  return new Command('remove')
    .description('remove a site, with its drain; what runs there goes on to its end')
    .argument('<site>', 'name of the site')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, options: Printing) =>
      changeSections(context, options, (contents) => withoutSite(contents, name)),
    );
}

function membersOf(command: Command): Command {
  return command
    .option('--setup <name>', 'setup whose jobs it runs; may be repeated', collect)
    .option('--slots <count>', 'jobs at once')
    .option('--processors <count>', 'processors for all of its jobs')
    .option('--ram-mb <count>', 'memory for all of its jobs, in MB')
    .option('--gpus <count>', 'GPUs for all of its jobs')
    .option('--tag <name>', 'what jobs may ask for by name; may be repeated', collect)
    .option('--max-wall-time <seconds>', 'how long a job may run')
    .option('--network <kind>', 'what jobs of a local site reach: none or host')
    .option('--option <key=value>', 'setting of the backend; may be repeated', collect)
    .addOption(outputOption())
    .addOption(jsonOption());
}

/** What the file would say of the site: what was not given is undefined, what was given as an empty text null. */
function bodyOf(options: SiteOptions): object {
  const { backend, setup, slots, processors, ramMb, gpus, tag, maxWallTime, network } = options;
  const counts = { slots, processors, ramMB: ramMb, gpus, maxWallTime };
  return {
    ...{ backend, setups: listOf(setup), tags: listOf(tag), network: orNull(network) },
    ...Object.fromEntries(Object.entries(counts).map(([name, text]) => [name, countOf(text)])),
    options: settingsOf(options.option),
  };
}

function orNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

function listOf(words: string[] | undefined): string[] | null | undefined {
  return words?.every((word) => word === '') ? null : words;
}

/** What is no number is refused where the file is read. */
function countOf(text: string | undefined): number | string | null | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : orNull(text);
}

function settingsOf(settings: string[] | undefined): object | null | undefined {
  const given = listOf(settings);
  if (!given) return given;
  return Object.fromEntries(
    given.map((setting) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
      if (key === undefined) throw new CommandError(`--option ${setting} is not key=value`, 2);
      return [key, countOf(value)];
    }),
  );
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

async function answer(
  context: CliContext,
  options: Printing,
  work: (reports: SiteReports) => Promise<SiteReport[]>,
): Promise<void> {
  const app = await context.application();
  try {
    const sites = await work(app.get(SiteReports));
    const rows = sites.map(
      ({ name, backend, state, since = '', by = '', reason = '', ...more }) => [
        ...[name, backend, state],
        ...[since, by, reason],
        ...[more.cluster ?? '', more.fault ?? ''],
      ],
    );
    const heading = ['SITE', 'BACKEND', 'STATE', 'SINCE', 'BY', 'REASON', 'CLUSTER', 'FAULT'];
    const names = sites.map(({ name }) => name);
    await present(options, { value: { sites }, heading, rows, names });
  } catch (error) {
    if (error instanceof DrainFault) throw new CommandError(error.message, 2);
    throw error;
  }
}
