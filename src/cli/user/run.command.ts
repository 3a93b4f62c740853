import type { Command } from 'commander';
import { GridError } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { tell } from '../terminal/output.js';
import type { OptionsOf } from '../terminal/command.js';
import type { GridConnection } from './grid-connection.js';
import { endOf, linesOf } from './job-end.js';
import { isFinal } from './job-listing.js';
import { followTo } from './job-logs.js';
import { commandFrom, manifestsOf } from './manifest-source.js';
import { onGrid } from './on-grid.js';
import { notesOf } from './output-notes.js';
import { JOB_OPTION_ROWS } from './script/job-options.js';
import { leftHere, PROGRAM_OPTIONS, send } from './sending.js';

const RUN_OPTIONS = [...PROGRAM_OPTIONS, ...JOB_OPTION_ROWS] as const;

/** Ctrl-C and a polite end of the terminal or of a script around it. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Files whose names are told. */
const MOST_NAMES = 10;
/** 128 + SIGINT, as shells say it. */
const INTERRUPTED = 130;

/** `run -- cmd args…` */
export const runJobCommand: Command = onGrid(
  'run',
  'run a command as a job: shows what it writes and ends with its exit code; Ctrl-C kills the job',
  {
    args: [
      ['<command...>', 'a program of the site, or a file here, which goes along: run -- CMD ARGS'],
    ],
    options: RUN_OPTIONS,
    isProgram: () => true,
    run: runJob,
  },
);

async function runJob(
  grid: GridConnection,
  words: string[],
  options: OptionsOf<typeof RUN_OPTIONS>,
): Promise<void> {
  const read = [await commandFrom(words)];
  const none = { set: [], sweep: [], exec: undefined, args: undefined, array: undefined };
  const made = manifestsOf(read, { ...options, ...none });
  if (made.swept > 0) {
    throw new CommandError('run makes one job, and the script asks for an array', 2, ARRAY);
  }
  if (made.manifests.some(({ Hold }) => Hold === true)) {
    throw new CommandError('run waits for the end, and --hold keeps a job from its begin', 2, HOLD);
  }
  for (const warning of [...made.warnings, ...leftHere(read, made)]) tell(`warning: ${warning}`);
  const sent = await send(grid, made, { output: 'table' });
  for (const { detail } of sent.warnings ?? []) tell(`warning: ${detail}`);
  const [jid = 0] = 'jids' in sent ? sent.jids.map(Number) : [];
  const [manifest] = made.manifests;
  const isOneFile = manifest?.StdError !== undefined && manifest.StdError === manifest.StdOutput;
  const { StdOutput = 'std.out', StdError = 'std.err', OutputSandbox: asked } = manifest ?? {};
  const printed = asked && [StdOutput, StdError].map((name) => name.replaceAll('%j', String(jid)));
  await endedWith(grid, jid, { isOneFile, printed });
}

const ARRAY = '`gridgate submit` makes arrays';
const HOLD = '`gridgate submit --hold` sends one that waits until `gridgate release`';

/** Shows what a job writes until it has ended, and ends as it does. Throws CommandError with its exit code. */
async function endedWith(
  grid: GridConnection,
  jid: number,
  { isOneFile, printed }: { isOneFile: boolean; printed: string[] | undefined },
): Promise<void> {
  let isKilled = false;
  const kill = (): void => {
    if (isKilled) process.exit(INTERRUPTED); // who asks twice does not wait for the end
    isKilled = true;
    tell(`killing job ${jid}; once more leaves it to itself`);
    grid.client.killJob(jid).catch((error: unknown) => tell(`gridgate: ${String(error)}`));
  };
  for (const signal of SIGNALS) process.on(signal, kill);
  tell(`job ${jid}: Ctrl-C kills it`);
  try {
    await Promise.all([
      followTo(process.stdout, { grid, jid, name: 'std.out' }).catch(unlessMissing),
      ...(isOneFile
        ? []
        : [followTo(process.stderr, { grid, jid, name: 'std.err' }).catch(unlessMissing)]),
    ]);
  } finally {
    for (const signal of SIGNALS) process.off(signal, kill);
  }
  const end = await endOf(grid, jid);
  if (isFinal(end.status)) await tellFiles(grid, jid, printed);
  if (end.status === 'Done') return;
  if (!isFinal(end.status)) {
    const hint = `\`gridgate logs -f ${jid}\` goes on`;
    throw new CommandError(`job ${jid} is ${end.status}, and is not shown any more`, 1, hint);
  }
  const [line = ''] = linesOf(end);
  const own = end.exitCode === undefined || end.exitCode === 0 ? 1 : end.exitCode;
  const code = isKilled ? INTERRUPTED : own;
  const hint = isKilled ? undefined : `\`gridgate why ${jid}\` says what helps`;
  throw new CommandError(`job ${line}`, code, hint);
}

/** Tells which files came back beside what is printed, where some were asked for, and which did not. */
async function tellFiles(
  grid: GridConnection,
  jid: number,
  printed: readonly string[] | undefined,
): Promise<void> {
  for (const note of await notesOf(grid, [jid])) tell(note);
  if (!printed) return;
  const { files } = await grid.client.listOutputSandbox(jid).catch((error: unknown) => {
    unlessMissing(error);
    return { files: [] };
  });
  const names = files.map(({ name }) => name).filter((name) => !printed.includes(name));
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const shown = `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
  if (names.length > 0) tell(`\`gridgate output ${jid}\` fetches ${shown}`);
}

/** A job whose program never began has no output; its end says why. */
function unlessMissing(error: unknown): void {
  if (!(error instanceof GridError && error.status === 404)) throw error;
}
