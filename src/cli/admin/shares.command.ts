import { Command } from 'commander';
import { ShareReport, type GroupShare } from '../../jobs/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';

/** `gridgate shares`: what groups and owners have had of the processors, and are due. */
export function sharesCommand(context: CliContext): Command {
  return new Command('shares')
    .description('what groups and owners have had of the processors, and are due')
    .option('--group <name>', 'only this group')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing & { group?: string }) => {
      const { group } = options;
      const all = await (await context.application()).get(ShareReport).read();
      if (!all) throw new CommandError('places are not shared (GRID_SHARES=false)', 2);
      const groups = all.filter((one) => group === undefined || one.group === group);
      await present(options, {
        value: { groups },
        heading: ['GROUP', 'OWNER', 'WEIGHT', 'USED', 'DUE', 'SECONDS', 'PROCESSORS', 'WAITS'],
        rows: groups.flatMap(rowsOf),
        names: groups.map((one) => one.group),
      });
    });
}

function rowsOf({ group, weight, owners, ...share }: GroupShare): string[][] {
  const own = owners.map(({ owner, ...of }) => [group, owner, '', ...cells(of)]);
  return [[group, '', String(weight), ...cells(share)], ...own];
}

function cells(
  share: Pick<GroupShare, 'used' | 'due' | 'seconds' | 'held' | 'isWaiting'>,
): string[] {
  const { used, due, seconds, held, isWaiting } = share;
  return [percent(used), percent(due), `${seconds}`, `${held}`, isWaiting ? 'yes' : 'no'];
}

function percent(of: number): string {
  return `${(of * 100).toFixed(1)} %`;
}
