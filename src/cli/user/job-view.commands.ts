import { once } from 'node:events';
import { Command } from 'commander';
import type {
  JobShareResponse,
  JobTimelineResponse,
  ShowJobTimelineQuery,
} from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { printableLines, table, tell } from '../terminal/output.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';
import type { GridConnection } from './grid-connection.js';

import { withConnection } from './with-connection.js';
import { jidOf } from './words.js';

interface LogsOptions {
  follow?: boolean;
  err?: boolean;
  file?: string;
}

interface TimelineOptions extends Printing {
  from?: string;
  to?: string;
  step?: string;
  group?: string;
  all?: boolean;
}

/** `logs`, `timeline`, `why`. */
export function jobViewCommands(): Command[] {
  return [logsCommand(), timelineCommand(), whyCommand()];
}

function logsCommand(): Command {
  return new Command('logs')
    .description('show what a job has written, also while it runs')
    .argument('<jid>', 'job id')
    .option('-f, --follow', 'go on until the job has ended')
    .option('-e, --err', 'standard error instead of standard output')
    .option('--file <name>', 'another file that the job gives back')
    .action((jid: string, options: LogsOptions) =>
      withConnection((grid) => logs(grid, jidOf(jid), options)),
    );
}

async function logs(
  grid: GridConnection,
  jid: number,
  { follow, err, file }: LogsOptions,
): Promise<void> {
  const name = file ?? (err ? 'std.err' : 'std.out');
  if (follow) return followLogs(grid, jid, name);
  const path = `/jobs/${jid}/output/${name.split('/').map(encodeURIComponent).join('/')}`;
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const bytes: ReadableStream<Uint8Array> | null = answer.body;
  if (!bytes) return;
  const isTerminal = process.stdout.isTTY;
  const text = new TextDecoder();
  for await (const piece of bytes) {
    await write(isTerminal ? printableLines(text.decode(piece, { stream: true }), true) : piece);
  }
}

async function followLogs(grid: GridConnection, jid: number, name: string): Promise<void> {
  for await (const event of grid.client.followOutput(jid, name)) {
    if (event.event === 'output') {
      const { text, base64 } = event;
      const isTerminal = process.stdout.isTTY;
      const isText = isTerminal || base64 === undefined;
      await write(isText ? printableLines(text, isTerminal) : Buffer.from(base64, 'base64'));
    }
    if (event.event === 'restart') tell(`job ${jid} begins ${name} anew`);
    if (event.event === 'end' && event.status !== 'Done') {
      throw new CommandError(`job ${jid}: ${event.status ?? event.reason}`);
    }
  }
}

async function write(piece: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
}

function timelineCommand(): Command {
  return new Command('timeline')
    .description('how many of your jobs were in which state, in steps of time')
    .option('--from <time>', 'day or instant; a day before the end by default')
    .option('--to <time>', 'day or instant; now by default')
    .option('--step <seconds>', 'seconds between two lines; an hour by default')
    .option('--group <attribute>', 'divide by an attribute, for example Site')
    .option('--all', 'jobs of all owners')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((options: TimelineOptions) =>
      withConnection(async (grid) => {
        const { from, to, step = '3600', group, all } = options;
        const query = {
          step: Number(step),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(group !== undefined && { group: group as ShowJobTimelineQuery['group'] & string }),
          ...(all && { allOwners: true }),
        };
        const timeline = await grid.client.showJobTimeline(query);
        await show(options, timeline, () => linesOf(timeline));
      }),
    );
}

function linesOf({ from, step, series }: JobTimelineResponse): string[] {
  const columns = series.map(({ status, group }) =>
    group === undefined ? status : `${status} ${group}`,
  );
  const steps = series[0]?.counts.length ?? 0;
  const rows = Array.from({ length: steps }, (_, index) => {
    const time = new Date(Date.parse(from) + index * step * 1000);
    return [time.toISOString(), ...series.map(({ counts }) => String(counts[index] ?? 0))];
  });
  return table(['TIME', ...columns.map((column) => column.toUpperCase())], rows);
}

function whyCommand(): Command {
  return new Command('why')
    .description('what a job waits for, and why it does not run at each site')
    .argument('<jid>', 'job id')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((jid: string, options: Printing) =>
      withConnection(async (grid) => {
        const told = await grid.client.explainJob(jidOf(jid));
        const { status, waitsFor, place, share, sites } = told;
        const among = share ? 'among the jobs of its owner' : 'in the queue';
        const turn = place === undefined ? '' : `, place ${place} ${among}`;
        await show(options, told, () => [
          `${jid} is ${status}${turn}`,
          `waits for: ${waitsFor}`,
          ...(share ? [standingOf(share)] : []),
          ...table(['SITE', 'WHY NOT THERE'], Object.entries(sites)),
        ]);
      }),
    );
}

function standingOf({ group, used, due, ownerUsed, ownersBefore }: JobShareResponse): string {
  const percent = (part: number): string => `${Math.round(part * 100)} %`;
  const had = `${group} has had ${percent(used)} of what was used lately and is due ${percent(due)}`;
  return `share: ${had}; its owner has had ${percent(ownerUsed)} of that; owners who come first: ${ownersBefore}`;
}
