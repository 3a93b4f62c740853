import { userInfo } from 'node:os';
import { Command } from 'commander';
import { PlaceReport } from '../../jobs/index.js';
import {
  DrainFault,
  DrainsService,
  type SiteConnection,
  type SiteState,
} from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';

/** `gridgate site drain|resume|show`: which sites get new jobs. */
export function siteCommand(context: CliContext): Command {
  const command = new Command('site').description('which sites get new jobs');
  command
    .command('drain')
    .description('give a site no new jobs; what runs there goes on')
    .argument('<site>', 'name of the site')
    .option('--reason <text>', 'for users, whose jobs wait', '')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((site: string, options: Printing & { reason: string }) =>
      answer(context, options, async (drains) => [
        await drains.drain(site, { by: userInfo().username, reason: options.reason }),
      ]),
    );
  command
    .command('resume')
    .description('give a drained site jobs again')
    .argument('<site>', 'name of the site')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((site: string, options: Printing) =>
      answer(context, options, async (drains) => [await drains.resume(site)]),
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
      answer(context, options, async (drains) =>
        site === undefined ? drains.states() : [await drains.state(site)],
      ),
    );
  return command;
}

async function answer(
  context: CliContext,
  options: Printing,
  work: (drains: DrainsService) => Promise<SiteState[]>,
): Promise<void> {
  const app = await context.application();
  try {
    const states = await work(app.get(DrainsService));
    const faults = await app.get(PlaceReport).faults(states.map(({ site }) => site));
    const sites = states.map((state) => shown(state, faults.get(state.site.name)));
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

interface ShownSite {
  name: string;
  backend: string;
  state: 'open' | 'drained';
  since?: string;
  by?: string;
  reason?: string;
  /** How a cluster of its own is reached. */
  cluster?: string;
  /** Why nothing can start there now. */
  fault?: string;
}

function shown({ site, drain }: SiteState, fault: string | undefined): ShownSite {
  const { name, backend, connection } = site;
  return {
    ...{ name, backend },
    ...(drain ? { state: 'drained', ...drain } : { state: 'open' }),
    ...(connection && { cluster: clusterOf(connection) }),
    ...(fault !== undefined && { fault }),
  };
}

function clusterOf({ url, ssh, port, user }: SiteConnection): string {
  if (ssh === undefined) return url ?? '';
  return `ssh ${user ?? ''}@${ssh}${port === undefined ? '' : ` port ${port}`}`;
}
