import { Command } from 'commander';
import { ShareReport, type GroupShare } from '../../jobs/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { show, table } from '../terminal/output.js';

/** `gridgate shares`: what groups and owners have had of the processors, and are due. */
export function sharesCommand(context: CliContext): Command {
  return new Command('shares')
    .description('what groups and owners have had of the processors, and are due')
    .option('--group <name>', 'only this group')
    .option('--json', 'print JSON')
    .action(async ({ group, json }: { group?: string; json?: boolean }) => {
      const all = await (await context.application()).get(ShareReport).read();
      if (!all) throw new CommandError('places are not shared (GRID_SHARES=false)', 2);
      const groups = all.filter((one) => group === undefined || one.group === group);
      show(json, { groups }, () =>
        table(
          ['GROUP', 'OWNER', 'WEIGHT', 'USED', 'DUE', 'SECONDS', 'PROCESSORS', 'WAITS'],
          groups.flatMap(rowsOf),
        ),
      );
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
