import { AllKeysService, SCOPES, type NamedKeyReport, type Principal } from '../../auth/index.js';
import {
  JobControlService,
  JobsService,
  JobSummaryQuery,
  ListJobsQuery,
  ShareReport,
  type GroupShare,
  type JobListResponse,
} from '../../jobs/index.js';
import { parseJson } from '../../kernel/index.js';
import { QueryValues, readQuery } from '#src/http/index.js';
import { group } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, thing, type Shown } from '../terminal/output-format.js';
import { jsonText } from '../terminal/output.js';
import { onService, type CliContext } from './context.js';

/** `gridgate keys list|show|rotate`: the keys that sign access tokens, and the RSA keys of ID tokens. */
export const keysCommand = group('keys', 'keys that sign access and ID tokens', [
  onService('list', 'all keys, oldest first', {
    show: async (service) => keysShown(await (await service.get(AllKeysService)).report()),
  }),
  onService('show', 'one key', {
    args: [['<kid>', 'its kid']],
    show: async (service, kid) => {
      const keys = await (await service.get(AllKeysService)).report();
      const key = keys.find((one) => one.kid === kid);
      if (key) return thing(key, [kid]);
      throw new CommandError(`there is no key ${kid}`, 2, '`gridgate keys list` shows all');
    },
  }),
  onService(
    'rotate',
    'let the next keys take over: at once when they have been published for ten minutes, else when they will have been',
    {
      options: [
        [
          '--now',
          'after a leak: new keys sign at once, and whatever the others have signed is refused (elsewhere within 5 minutes)',
        ],
      ],
      show: async (service, { now = false }) =>
        keysShown(await (await service.get(AllKeysService)).rotate(now)),
    },
  ),
]);

function keysShown(keys: NamedKeyReport[]): Shown {
  return listOf({ keys }, keys, {
    KID: 'kid',
    ALGORITHM: 'algorithm',
    TOKENS: 'tokens',
    STATE: 'state',
    CREATED: 'createdAt',
    ACTIVE: 'activeFrom',
  });
}

/** `gridgate shares list|show`: what groups and owners have had of the processors, and are due. */
export const sharesCommand = group(
  'shares',
  'what groups have had of the processors, and are due',
  [
    onService('list', 'all groups and their owners', {
      options: [['--group <name>', 'only this group']],
      show: (service, { group: only }) => shares(service, only),
    }),
    onService('show', 'one group and its owners', {
      args: [['<group>', 'name of the group']],
      show: async (service, name) => {
        const shown = await shares(service, name);
        if (shown.names?.length !== 0) return shown;
        throw new CommandError(`${name} has no share`, 2, '`gridgate shares list` shows all');
      },
    }),
  ],
  'list',
);

async function shares(service: CliContext, only: string | undefined): Promise<Shown> {
  const all = await (await service.get(ShareReport)).read();
  if (!all) throw new CommandError('places are not shared (GRID_SHARES=false)', 2);
  const groups = all.filter((one) => only === undefined || one.group === only);
  const lines = groups.flatMap(({ owners, ...share }) => [
    { owner: '', ...share },
    ...owners.map((of) => ({ group: share.group, weight: undefined, ...of })),
  ]);
  const shown = listOf<ShareLine>({ groups }, lines, {
    GROUP: 'group',
    OWNER: 'owner',
    WEIGHT: 'weight',
    USED: ({ used }) => percent(used),
    DUE: ({ due }) => percent(due),
    SECONDS: 'seconds',
    PROCESSORS: 'held',
    WAITS: ({ isWaiting }) => (isWaiting ? 'yes' : 'no'),
  });
  return { ...shown, names: groups.map((one) => one.group) };
}

type ShareLine = Omit<GroupShare, 'owners' | 'weight'> & {
  owner: string;
  weight: number | undefined;
};

function percent(of: number): string {
  return `${(of * 100).toFixed(1)} %`;
}

const SETUP = ['--setup <name>', 'setup of the jobs', { default: 'Prod' }] as const;
const COLUMNS = ['jid', 'status', 'minorStatus', 'site', 'owner', 'ownerGroup', 'name'] as const;

/** `gridgate jobs list|summary|show|kill`: the jobs of a setup, with an administrator's rights. */
export const jobsCommand = group('jobs', 'the jobs of a setup, for administrators', [
  onService('list', 'newest jobs; filters as in GET /jobs: status=Running site=…', {
    args: [['[filter...]', '']],
    options: [SETUP, ['--limit <number>', 'how many', { default: '20' }]],
    show: async (service, filters, { setup, limit }) => {
      const query = [...filters, 'allOwners=true', `maxJobs=${limit}`].map(encoded);
      const read = readQuery(ListJobsQuery, new QueryValues(query.join('&')));
      const { body } = await (await service.get(JobsService)).list(administrator(setup), read);
      const value = parseJson(body.text) as unknown as JobListResponse;
      const { length } = value.jobs;
      const note = `${length} of ${value.entries} jobs; --limit shows more`;
      const columns = Object.fromEntries(COLUMNS.map((name) => [name.toUpperCase(), name]));
      return {
        ...listOf(value, value.jobs, columns),
        notes: value.entries > length ? [note] : [],
      };
    },
  }),
  onService('summary', 'how many jobs are in which state', {
    options: [SETUP],
    show: async (service, { setup }) => {
      const read = readQuery(JobSummaryQuery, new QueryValues('allOwners=true'));
      const jobs = await service.get(JobsService);
      const value = await jobs.summary(administrator(setup), read);
      return listOf(value, Object.entries(value), {
        STATUS: ([status]) => status,
        JOBS: ([, count]) => count,
      });
    },
  }),
  onService('show', 'one job', {
    args: [['<jid>', '']],
    options: [SETUP],
    show: async (service, jid, { setup }) => {
      const value = await (await service.get(JobsService)).get(administrator(setup), jid);
      return { value, lines: jsonText(value, 2).split('\n'), names: [jid] };
    },
  }),
  onService('kill', 'kill jobs', {
    args: [['<jid...>', '']],
    options: [SETUP],
    show: async (service, jids, { setup }) => {
      const control = await service.get(JobControlService);
      const results = await control.killMany(administrator(setup), jids, false);
      const lines = Object.entries(results).map(([jid, { status, detail }]) =>
        status === 200 ? `${jid} killed` : `${jid} ${detail ?? status}`,
      );
      const isDone = Object.values(results).every(({ status }) => status === 200);
      const fault = !isDone && new CommandError('not every job was killed', 2);
      return { value: { results }, lines, fault };
    },
  }),
]);

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
