import { userInfo } from 'node:os';
import { Command } from 'commander';
import { DrainFault, DrainsService, type SiteState } from '../../registry/index.js';
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
    .description('the sites, and which are drained by whom and why')
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
  const drains = (await context.application()).get(DrainsService);
  try {
    const sites = (await work(drains)).map(shown);
    const rows = sites.map(({ name, backend, state, since = '', by = '', reason = '' }) => [
      ...[name, backend, state],
      ...[since, by, reason],
    ]);
    const heading = ['SITE', 'BACKEND', 'STATE', 'SINCE', 'BY', 'REASON'];
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
}

function shown({ site: { name, backend }, drain }: SiteState): ShownSite {
  if (!drain) return { name, backend, state: 'open' };
  return { name, backend, state: 'drained', ...drain };
}
