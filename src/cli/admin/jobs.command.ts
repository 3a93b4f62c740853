import { Command } from 'commander';
import { SCOPES, type Principal } from '../../auth/index.js';
import {
  JobControlService,
  JobsService,
  JobSummaryQuery,
  ListJobsQuery,
  type JobListResponse,
} from '../../jobs/index.js';
import { parseJson } from '../../kernel/index.js';
import { QueryValues, readQuery } from '#src/http/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { CliContext } from './context.js';
import { tell } from '../terminal/output.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';

interface JobsOptions extends Printing {
  setup: string;
  limit: string;
}

const COLUMNS = ['jid', 'status', 'minorStatus', 'site', 'owner', 'ownerGroup', 'name'] as const;

/** `gridgate jobs list|summary|show|kill`: the jobs of a setup, with an administrator's rights. */
export function jobsCommand(context: CliContext): Command {
  const command = new Command('jobs').description('the jobs of a setup, for administrators');
  add(command, 'list', 'newest jobs; filters as in GET /jobs: status=Running site=…', '[filter...]')
    .option('--limit <number>', 'how many', '20')
    .action(async (filters: string[], options: JobsOptions) => {
      const query = [...filters, 'allOwners=true', `maxJobs=${options.limit}`].map(encoded);
      const jobs = (await context.application()).get(JobsService);
      const answer = await jobs.list(
        administrator(options.setup),
        readQuery(ListJobsQuery, new QueryValues(query.join('&'))),
      );
      const body = parseJson(answer.body.text) as unknown as JobListResponse;
      await present(options, {
        value: body,
        heading: COLUMNS.map((name) => name.toUpperCase()),
        rows: body.jobs.map((job) => COLUMNS.map((name) => String(job[name] as string | number))),
        names: body.jobs.map(({ jid }) => String(jid as string | number)),
      });
      const { length } = body.jobs;
      if (body.entries > length) tell(`${length} of ${body.entries} jobs; --limit shows more`);
    });
  add(command, 'summary', 'how many jobs are in which state').action(
    async (options: JobsOptions) => {
      const jobs = (await context.application()).get(JobsService);
      const counts = await jobs.summary(
        administrator(options.setup),
        readQuery(JobSummaryQuery, new QueryValues('allOwners=true')),
      );
      await present(options, {
        value: counts,
        heading: ['STATUS', 'JOBS'],
        rows: Object.entries(counts).map(([name, count]) => [name, `${count}`]),
        names: Object.keys(counts),
      });
    },
  );
  add(command, 'show', 'one job', '<jid>').action(async (jid: string, options: JobsOptions) => {
    const job = await (
      await context.application()
    )
      .get(JobsService)
      .get(administrator(options.setup), jid);
    await show(options.output === 'table' ? { output: 'json' } : options, job, () => [], [jid]);
  });
  add(command, 'kill', 'kill jobs', '<jid...>').action(
    async (jids: string[], options: JobsOptions) => kill(context, jids, options),
  );
  return command;
}

async function kill(context: CliContext, jids: string[], options: JobsOptions): Promise<void> {
  const control = (await context.application()).get(JobControlService);
  const results = await control.killMany(administrator(options.setup), jids, false);
  await show(options, { results }, () =>
    Object.entries(results).map(([jid, { status, detail }]) =>
      status === 200 ? `${jid} killed` : `${jid} ${detail ?? status}`,
    ),
  );
  if (Object.values(results).some(({ status }) => status !== 200)) {
    throw new CommandError('not every job was killed', 2);
  }
}

function add(command: Command, name: string, text: string, argument?: string): Command {
  const child = command
    .command(name)
    .description(text)
    .option('--setup <name>', 'setup of the jobs', 'Prod')
    .addOption(outputOption())
    .addOption(jsonOption());
  return argument === undefined ? child : child.argument(argument);
}

/** `key=value` → the same with both sides encoded. */
function encoded(word: string): string {
  const [key = '', ...rest] = word.split('=');
  return `${encodeURIComponent(key)}=${encodeURIComponent(rest.join('='))}`;
}

/** Whoever may run this command on the service's database may do what an administrator may. */
function administrator(setup: string): Principal {
  return {
    user: 'gridgate command',
    dn: '',
    group: '',
    setup,
    properties: new Set(['JobAdministrator']),
    scopes: new Set(SCOPES),
    clientId: 'gridgate-cli',
    userGroups: [],
  };
}
