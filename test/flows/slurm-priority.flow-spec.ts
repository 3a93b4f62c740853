import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { submit } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { accountingFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { UnixAccounts } from '../support/slurm/unix-accounts.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const NAMES = ['gridfirst', 'gridsecond'];
const fault = accountingFault() ?? (await UnixAccounts.fault(NAMES));
const need = { met: fault === undefined, name: `a Slurm with slurmdbd (${fault ?? ''})` };

/** Four places, more jobs of ten seconds than they can run in the time, and two groups of which the second is due twice as much. */
const PLACES = 4;
const JOBS = 150;
const JOB_SECONDS = 10;
const SECONDS = 300;
const HALF_LIFE = 120;

/** What a group has got. */
interface Got {
  started: number;
  /** Seconds from the submit to its first start. */
  first: number;
}
type Gots = Record<'first' | 'second', Got>;
const NOTHING: Got = { started: 0, first: Infinity };

/** The same jobs, by everybody at once: the first group is a moment earlier with enough jobs for all places and all the time. */
describeWith(need)('two groups at four places', () => {
  let slurm: SlurmCluster;
  let accounts: UnixAccounts;
  const grids: Grid[] = [];
  const got: Record<string, Gots> = {};

  beforeAll(async () => {
    accounts = await UnixAccounts.make(NAMES);
    slurm = await startSlurm({
      hasAccounting: true,
      settings: {
        PriorityType: 'priority/multifactor',
        PriorityWeightFairshare: 100_000,
        PriorityDecayHalfLife: `00:0${HALF_LIFE / 60}:00`,
        PriorityCalcPeriod: 1,
        AccountingStorageEnforce: 'associations',
      },
    });
    const registry = join(slurm.directory, 'registry.yaml');
    await writeFile(registry, 'shares: {grid_user: 1, grid_share: 2}\n');
    const env = {
      GRID_REGISTRY: registry,
      GRID_REGISTRY_SYNC: 'true',
      GRID_LOCAL_SLOTS: String(PLACES),
    };
    const rules = { GRID_SHARE_HALF_LIFE: String(HALF_LIFE) };
    grids.push(await startGrid({ env: { ...env, ...rules } }));
    grids.push(await startGrid({ env: { ...env, GRID_SHARES: 'false' } }));
  }, 480_000);

  afterAll(async () => {
    for (const grid of grids) await grid.remove();
    await slurm?.stop();
    await accounts?.remove();
  });

  const bySlurm = async (): Promise<Gots> => {
    for (const [index, name] of NAMES.entries()) {
      await slurm.command('sacctmgr', '-i', 'add', 'account', name, `fairshare=${index + 1}`);
      await slurm.command('sacctmgr', '-i', 'add', 'user', name, `account=${name}`);
    }
    const began = Date.now();
    for (const name of NAMES) {
      const whose = [`--uid=${name}`, `--account=${name}`, `--array=1-${JOBS}`];
      const what = ['--cpus-per-task=8', '--output=/dev/null', '--chdir=/'];
      await slurm.command('sbatch', ...whose, ...what, `--wrap=sleep ${JOB_SECONDS}`);
    }
    await passed(began);
    const told = await eventually(async () => {
      const form = ['-a', '-X', '-n', '-P', '--format=Account,Start,State'];
      const text = await slurm.command('sacct', ...form, '--starttime=now-1hour');
      return text.includes('RUNNING') ? text : undefined;
    }, 'the accounting to know what runs');
    const starts = told
      .split('\n')
      .map((line) => line.split('|'))
      .map(([account = '', start = '']) => ({ account, at: Date.parse(start) }))
      .filter(({ at }) => !Number.isNaN(at));
    const of = (name = ''): Got => {
      const times = starts.filter(({ account }) => account === name).map(({ at }) => at);
      return { started: times.length, first: secondsFrom(began, Math.min(...times)) };
    };
    return { first: of(NAMES[0]), second: of(NAMES[1]) };
  };

  const byGridgate = async (grid: Grid): Promise<Gots> => {
    const job = { Executable: '/bin/sleep', Arguments: String(JOB_SECONDS) };
    const jobs = Array<object>(JOBS).fill(job);
    const began = Date.now();
    await submit(await grid.as('alice'), jobs);
    await submit(await grid.as('bob', 'grid_share'), jobs);
    await passed(began);
    const rows = await grid.sql<{ name: string; started: number; at: Date }>(
      `select j.owner_group as name, count(distinct h.jid)::integer as started, min(h.time) as at
        from job_history h join jobs j using (jid)
        where h.status = 'Running' and h.time < $1 group by 1`,
      [new Date(began + SECONDS * 1000)],
    );
    const of = (name: string): Got => {
      const row = rows.find((each) => each.name === name);
      return row ? { started: row.started, first: secondsFrom(began, row.at.getTime()) } : NOTHING;
    };
    return { first: of('grid_user'), second: of('grid_share') };
  };

  it('get what they are due, by real Slurm in its steps of a minute and by the service at once', async () => {
    const [shares, order] = grids as [Grid, Grid];
    const all = await Promise.all([byGridgate(shares), byGridgate(order), bySlurm()]);
    for (const [index, name] of ORDERS.entries()) got[name] = all[index] as Gots;
    const [own, inOrder, slurms] = all.map(partOf);
    expect(own).toBeGreaterThan(0.55);
    expect(own).toBeLessThan(0.78);
    expect(inOrder).toBe(0);
    expect(slurms).toBeGreaterThan(0.4);
    expect(slurms).toBeLessThan(0.85);
    if (process.env['GRID_WRITE_PAGES'] === 'true') writePage(got);
  }, 600_000);
});

const ORDERS = [
  'fair shares (`GRID_SHARES`, the default)',
  'priority, then age (`GRID_SHARES=false`): first come, as priorities are alike',
  "Slurm's multifactor priority, real, `PriorityCalcPeriod` of a minute",
];

/** How much of all that was started was the second group's. */
function partOf({ first, second }: Gots): number {
  return second.started / (first.started + second.started);
}

function secondsFrom(began: number, at: number): number {
  return Math.max(0, Math.round((at - began) / 1000));
}

async function passed(began: number): Promise<void> {
  const isOver = (): Promise<boolean> => Promise.resolve(Date.now() - began >= SECONDS * 1000);
  await eventually(isOver, 'the time to pass', (SECONDS + 60) * 1000);
}

const PAGE = 'docs/fair-shares.md';
const [BEGIN, END] = [
  '<!-- measured by test/flows/slurm-priority.flow-spec.ts -->',
  '<!-- end -->',
];

function writePage(got: Record<string, Gots>): void {
  const head =
    '| Order | Jobs of the first group | of the second | its part | its first start, s |\n' +
    '| --- | --- | --- | --- | --- |\n';
  const rows = ORDERS.map((name) => {
    const { first, second } = got[name] as Gots;
    const part = `${Math.round((second.started / (first.started + second.started)) * 100)} %`;
    const since = Number.isFinite(second.first) ? second.first : '—';
    return `| ${name} | ${first.started} | ${second.started} | ${part} | ${since} |\n`;
  });
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', after = ''] = page.split(BEGIN);
  const rest = after.slice(after.indexOf(END));
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${head}${rows.join('')}\n${rest}`);
}
