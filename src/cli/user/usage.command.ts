import { Command, Option } from 'commander';
import type { JobUsageRow, ReportJobUsageQuery } from '../../client/index.js';
import { emit } from '../terminal/output.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';
import { withConnection } from './with-connection.js';

interface UsageOptions extends Printing {
  from?: string;
  to?: string;
  by?: string;
  group?: string;
  owner?: string;
  site?: string;
  csv?: boolean;
}

const KEYS = ['month', 'day', 'vo', 'group', 'owner', 'site'] as const;

/** `gridgate usage`: what runs have used, by month and group or whatever is asked for. */
export function usageCommand(): Command {
  return new Command('usage')
    .description('processor time, memory and energy that runs have used')
    .option('--from <time>', 'first month or day, 2026-01 or 2026-01-31 (default: this month)')
    .option('--to <time>', 'last month or day (default: today)')
    .option('--by <keys>', `what to divide by: ${KEYS.join(', ')} (default: month,group)`)
    .option('--group <name>', 'only runs of jobs of this group')
    .option('--owner <name>', 'only runs of jobs of this owner')
    .option('--site <name>', 'only runs at this site')
    .addOption(new Option('--csv', 'as a table for spreadsheets').conflicts(['json']))
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(({ output, csv, ...options }: UsageOptions) =>
      withConnection(async ({ client }) => {
        const query = askedOf(options);
        if (csv) {
          const asked = { method: 'GET', path: '/jobs/usage', query, answer: 'json' } as const;
          const { answer } = await client.raw(asked, { headers: { Accept: 'text/csv' } });
          emit((await answer.text()).trimEnd());
          return;
        }
        const report = await client.reportJobUsage(query);
        const keys = KEYS.filter((key) => report.rows.some((row) => row[key] !== undefined));
        await present(
          { output },
          {
            value: report,
            heading: [...keys.map((key) => key.toUpperCase()), ...HEADING],
            rows: report.rows.map((row) => cellsOf(row, keys)),
            names: report.rows.map((row) => keys.map((key) => row[key]).join(' ')),
          },
        );
      }),
    );
}

function askedOf({
  from,
  to,
  by,
  group,
  owner,
  site,
}: Omit<UsageOptions, 'output'>): ReportJobUsageQuery {
  const all = { from, to, by, group, owner, site };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const HEADING = ['RUNS', 'DONE', 'WALL H', 'PROCESSOR H', 'CPU H', 'CPU %', 'MEMORY %', 'KWH'];

function cellsOf(row: JobUsageRow, keys: readonly (typeof KEYS)[number][]): string[] {
  const { runs, done, wallHours, processorHours, cpuHours, energy } = row;
  return [
    ...keys.map((key) => row[key] ?? ''),
    ...[`${runs}`, `${done}`, hours(wallHours), hours(processorHours), hours(cpuHours)],
    ...[percent(row.cpuEfficiency), percent(row.memoryEfficiency), energy.toFixed(3)],
  ];
}

function hours(value: number): string {
  return value.toFixed(2);
}

function percent(value: number | null): string {
  return value === null ? '-' : value.toFixed(1);
}
