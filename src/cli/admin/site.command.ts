import { userInfo } from 'node:os';
import { Command } from 'commander';
import { SiteReports, type SiteReport } from '../../administration/index.js';
import { DrainFault } from '../../registry/index.js';
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
