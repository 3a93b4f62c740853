import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { CommandUser, type Ended } from '../support/command.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;
let first: string;
let second: string;
let gone: string;

const WRITES = 'echo "line of $1"; echo other; echo 1 > summary.txt; echo 2 > kept.txt';

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
  await user.login(grid);
  await writeFile(join(home, 'scan.sh'), `#!/bin/sh\n${WRITES}\n`);
  const submit = async (...words: string[]): Promise<string> =>
    (await gridgate('submit', '--wait', '-o', 'name', '-g', 'keep', ...words)).stdout.trim();
  [first, second] = [await submit('scan.sh', 'a'), await submit('scan.sh', 'b')];
  await writeFile(join(home, 'far.json'), '{"Executable": "/bin/true", "Tags": ["nowhere"]}');
  gone = (await gridgate('submit', '-g', 'keep', 'far.json')).stdout.trim();
});

afterAll(async () => {
  await grid?.remove();
  await rm(home, { recursive: true, force: true });
});

const gridgate = (...words: string[]): Promise<Ended> => user.run(words);
const refused = (text: string, hint?: string): Ended => ({
  ...{ code: 2, stdout: '' },
  stderr: `gridgate: ${text}\n${hint === undefined ? '' : `hint: ${hint}\n`}`,
});

describe('files that a job was not asked to bring back', () => {
  const one =
    'made, and not brought back: summary.txt (gone with the job); `--output-file summary.txt` keeps it\n';
  const two =
    'made, and not brought back: kept.txt, summary.txt (gone with the job); `--output-file NAME` keeps one of them, `--output-file .` all\n';

  it('are named by run, with how the others are fetched', async () => {
    const ran = await gridgate('run', '--output-file', 'kept.txt', '--', './scan.sh', 'x');
    const [, jid = ''] = /^job (\d+)/.exec(ran.stderr) ?? [];
    expect(ran).toEqual({
      ...{ code: 0, stdout: 'line of x\nother\n' },
      stderr: `job ${jid}: Ctrl-C kills it\n${one}\`gridgate output ${jid}\` fetches kept.txt\n`,
    });
    expect((await gridgate('output', jid)).stderr).toBe(one);
    const copied = await gridgate('cp', `${jid}:summary.txt`);
    expect([copied.code, copied.stderr]).toEqual([2, expect.stringContaining(`${one}gridgate: `)]);
    expect((await gridgate('run', '--', './scan.sh')).stderr).toMatch(/^job .+\n.+ all\n$/);
  });

  it('are named by submit --wait, once for all jobs', async () => {
    const { stdout, stderr } = await gridgate('submit', '--wait', '--array', '1-2', 'scan.sh');
    const jids = [...stdout.matchAll(/^\d+(?= )/gm)].map(([jid]) => jid);
    expect(stderr.endsWith(`\n${jids.join(', ')}: ${two}`)).toBe(true);
    expect((await gridgate('submit', '--wait', 'scan.sh')).stderr.endsWith(`\n${two}`)).toBe(true);
  });
});

describe('a job that is held from the start', () => {
  it('waits until it is released, and is nothing for run', async () => {
    const { stdout } = await gridgate('submit', '--hold', '-o', 'name', 'scan.sh', 'h');
    const jid = stdout.trim();
    expect((await gridgate('why', jid)).stdout).toContain('it is held by its owner');
    expect((await gridgate('release', jid)).code).toBe(0);
    expect((await gridgate('status', jid, '--watch')).code).toBe(0);
    expect((await gridgate('logs', jid)).stdout).toBe('line of h\nother\n');
    expect(await gridgate('submit', '--hold', '--wait', 'scan.sh')).toEqual(
      refused(
        'a job that is held does not end, and --wait waits for the end',
        'leave --wait out; `gridgate release JID` lets it begin',
      ),
    );
    expect(await gridgate('run', '--hold', '--', './scan.sh')).toEqual(
      refused(
        'run waits for the end, and --hold keeps a job from its begin',
        '`gridgate submit --hold` sends one that waits until `gridgate release`',
      ),
    );
  });
});

describe('options of submit behind the script', () => {
  it('refuses --dry-run there, and gives the script what stands behind --', async () => {
    expect(await gridgate('submit', 'scan.sh', '--dry-run')).toEqual(
      refused(
        '--dry-run stands behind scan.sh, whose own word it would be there',
        'write it before the script; to give it to scan.sh: gridgate submit -- scan.sh --dry-run',
      ),
    );
    const given = await gridgate('submit', '--wait', '-o', 'name', '--', 'scan.sh', '--dry-run');
    expect(given.stderr).toBe('');
    expect((await gridgate('logs', given.stdout.trim())).stdout).toBe('line of --dry-run\nother\n');
    const { stderr } = await gridgate('submit', '--dry-run', 'scan.sh', '--json', '-o', 'x');
    expect(stderr).toBe(
      'warning: --json goes to scan.sh: options of submit stand before it\n' +
        'warning: -o goes to scan.sh: options of submit stand before it\n',
    );
  });

  it('names its own options for those that sbatch has in one letter', async () => {
    expect(await gridgate('submit', '-J', 'name', 'scan.sh')).toEqual(
      refused(
        "unknown option '-J'",
        "sbatch's -J is --job-name here; -J itself stands in lines #GRID only",
      ),
    );
    expect((await gridgate('submit', '-p', 'long', 'scan.sh')).stderr).toContain(
      "hint: sbatch's -p has no effect here, leave it out: sites are chosen by --site",
    );
    expect((await gridgate('submit', '-o', 'x.out', 'scan.sh')).stderr).toContain(
      'hint: the file for what a job prints is named in its script: #GRID --output=NAME\n',
    );
  });

  it('takes files for the catalogue, also by lines of the script', async () => {
    await writeFile(
      join(home, 'data.sh'),
      '#!/bin/sh\n#GRID --output-data=a.dat --output-data=*.root\n#GRID --output-path=/vo/out\n',
    );
    const checked = async (...words: string[]): Promise<unknown> =>
      JSON.parse((await gridgate('submit', '--dry-run', '--json', ...words)).stdout).manifests[0];
    expect(await checked('data.sh')).toMatchObject({
      ...{ OutputData: ['a.dat', '*.root'], OutputPath: '/vo/out' },
    });
    expect(await checked('--output-data', 'b', '--output-path', '/vo/b', 'data.sh')).toMatchObject({
      ...{ OutputData: ['b'], OutputPath: '/vo/b' },
    });
  });

  it('tells what a script uses that not every site has', async () => {
    await writeFile(
      join(home, 'site.sh'),
      '#!/bin/sh\nmodule load gcc\nml python/3\necho $SLURM_JOB_ID $SLURM_NODELIST\nml=1\n',
    );
    const has =
      'is there only where the site has it: --tag or --site names such a site, --file sends what the script needs';
    expect((await gridgate('submit', '--dry-run', 'site.sh')).stderr.split('\n')).toEqual([
      `warning: site.sh line 2: module ${has}`,
      `warning: site.sh line 3: ml ${has}`,
      'warning: site.sh line 4: the script uses SLURM_JOB_ID, which only a site with Slurm sets: write $JOBID, which each site sets',
      'warning: site.sh line 4: the script uses SLURM_NODELIST, which only a site with Slurm sets',
      '',
    ]);
  });
});

describe('results of several jobs', () => {
  it('are fetched into a directory each; what is missing stops nothing', async () => {
    const { code, stdout, stderr } = await gridgate('output', '-g', 'keep', '-C', 'all');
    const files = [first, second].flatMap((jid) =>
      ['std.out', 'std.err'].map((name) => join(home, 'all', jid, name)),
    );
    expect([code, stdout.trimEnd().split('\n').sort()]).toEqual([1, files.sort()]);
    expect(await readFile(join(home, 'all', second, 'std.out'), 'utf8')).toContain('line of b\n');
    await expect(stat(join(home, 'all', gone))).rejects.toThrow('ENOENT');
    expect(stderr).toMatch(new RegExp(`^${gone}: .+\n${first}, ${second}: made, and not .+\n`));
    expect(stderr).toMatch(/\ngridgate: nothing was fetched of 1 of 3 jobs\n$/);
    expect((await gridgate('output', first, second, '-o', 'json')).code).toBe(0);
    expect((await stat(join(home, first, 'std.out'))).isFile()).toBe(true);
  });

  it('are shown with the job before each line', async () => {
    const lines = (jid: string, word: string): string =>
      `job ${jid}: line of ${word}\njob ${jid}: other\n`;
    const both = `${lines(first, 'a')}${lines(second, 'b')}`;
    expect(await gridgate('logs', first, second)).toEqual({ code: 0, stdout: both, stderr: '' });
    const all = await gridgate('logs', '--where', 'jobGroup=keep');
    expect([all.code, all.stdout]).toEqual([1, both]);
    expect(all.stderr).toMatch(/gridgate: nothing was fetched of 1 of 3 jobs\n$/);
    expect(await gridgate('logs')).toEqual(
      refused(
        'logs of which jobs?',
        'give ids, or a filter such as --group NAME or --status Waiting',
      ),
    );
    expect(await gridgate('output', '-g', 'none')).toEqual(refused('no job is found'));
    for (const verb of ['kill', 'status', 'logs']) {
      expect(await gridgate(verb, '--where', 'allOwners=true')).toEqual(
        refused('--where allOwners is no attribute of jobs', '--all is for jobs of all owners'),
      );
      expect(await gridgate(verb, '--where', 'sort=jid')).toEqual(
        refused('--where sort is no attribute of jobs'),
      );
    }
  });

  it('are fetched of the others where a file here is in the way of one', async () => {
    await mkdir(join(home, 'way'));
    await writeFile(join(home, 'way', first), '');
    const ended = await gridgate('output', first, second, '-C', 'way');
    expect([ended.code, ended.stdout]).toEqual([
      1,
      expect.stringContaining(`way/${second}/std.out`),
    ]);
    expect(ended.stderr).toContain(`${first}: EEXIST`);
    expect(ended.stderr).toMatch(/\ngridgate: nothing was fetched of 1 of 2 jobs\n$/);
  });

  it('are too long to stand among others, or too many to be asked for what they lack', async () => {
    await writeFile(join(home, 'long.sh'), '#!/bin/sh\nhead -c 34000000 /dev/zero\n');
    const sent = await gridgate('submit', '--wait', '-o', 'name', 'long.sh');
    const jid = sent.stdout.trim();
    const ended = await gridgate('logs', first, jid);
    expect([ended.code, ended.stdout]).toEqual([1, expect.stringMatching(/^job \d+: line of a\n/)]);
    expect(ended.stderr).toContain(
      `${jid}: std.out is too long to stand among others\nhint: \`gridgate logs ${jid}\` shows it\n`,
    );
    const many = await gridgate('submit', '--wait', '-g', 'many', '--array', '1-21', 'scan.sh');
    const text =
      'of 21 jobs it is not told what was not brought back: `gridgate output JID` tells it';
    expect(many.stderr).toContain(text);
    expect((await gridgate('output', '-g', 'many', '-C', 'many')).stderr).toContain(text);
  });

  it('of an array are those of its members', async () => {
    const { stdout } = await gridgate(
      'submit',
      '--wait',
      '--array',
      '1-2',
      '-o',
      'json',
      'scan.sh',
    );
    const [jid = 0, other = 0] = (
      JSON.parse(stdout) as { jobs: { jid: number; arrayId: number }[] }
    ).jobs.map((job) => job.jid);
    const { arrayId } = JSON.parse((await gridgate('get', String(jid), '--json')).stdout);
    const shown = await gridgate('array', 'logs', String(arrayId));
    expect(shown.stdout).toBe(
      [jid, other].map((one) => `job ${one}: line of \njob ${one}: other\n`).join(''),
    );
    const swept = await gridgate(
      ...['submit', '--wait', '-o', 'json', '--array', '--sweep', 'x=7:8'],
      ...['scan.sh', '%(x)s'],
    );
    const { jobs } = JSON.parse(swept.stdout) as { jobs: { jid: number; arrayId: number }[] };
    expect((await gridgate('array', 'logs', String(jobs[0]?.arrayId))).stdout).toBe(
      jobs
        .map((job, at) => `job ${job.jid} (${at + 7})`)
        .map((head, at) => `${head}: line of ${at + 7}\n${head}: other\n`)
        .join(''),
    );
    expect((await gridgate('array', 'output', String(arrayId), '-C', 'members')).code).toBe(0);
    expect((await stat(join(home, 'members', String(other), 'std.out'))).isFile()).toBe(true);
  });
});

describe('lists', () => {
  it('are given to spreadsheets', async () => {
    const evil = '=1+1, "x"';
    await gridgate('submit', '-e', '/bin/false', '-n', evil, '-g', 'sheet', '--wait');
    const { stdout } = await gridgate('status', '-g', 'sheet', '-o', 'csv');
    const instant: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(stdout).toMatch(/\r\n$/);
    expect(parse(stdout, { columns: true })).toEqual([
      {
        ...{ jid: expect.stringMatching(/^\d+$/), name: `'${evil}`, status: 'Failed' },
        ...{ minorStatus: 'Application Finished With Errors', exitCode: '1', jobGroup: 'sheet' },
        ...{ owner: 'alice', site: expect.stringMatching(/^LOCAL\./) },
        ...{ submitted: instant, started: instant, ended: instant },
      },
    ]);
    expect((await gridgate('kill', first, '-o', 'csv')).code).toBe(2);
  });

  it('are whole in a table for spreadsheets, however long they are', async () => {
    await gridgate('submit', '-e', '/bin/true', '-g', 'long', '--array', '1-21', '--wait');
    const lines = async (...words: string[]): Promise<number> =>
      (await gridgate('status', '-g', 'long', '-o', ...words)).stdout.trimEnd().split('\n').length;
    const [csv, few, names] = [lines('csv'), lines('csv', '-l', '5'), lines('name')];
    expect(await Promise.all([csv, few, names])).toEqual([22, 6, 20]);
  });

  it('of usage end with their total, and take days by their names', async () => {
    const usage = ['usage', '--since', 'today', '--by', 'jobGroup'];
    const rows = (await gridgate(...usage)).stdout.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^JOBGROUP +RUNS /);
    expect(rows.filter((row) => /^(keep|long) /.test(row))).toHaveLength(2);
    expect(rows.at(-1)).toMatch(/^TOTAL +\d+ /);
    expect((await gridgate(...usage, '--job-group', 'long')).stdout).not.toContain('TOTAL');
    expect((await gridgate('usage', '--to', 'yesterday', '--from', 'today')).code).toBe(2);
    const both = await gridgate(...usage, '--from', 'today');
    expect(both).toMatchObject({ code: 2, stdout: '' });
    expect(both.stderr).toContain('--since');
  });

  it('take states in any case, and days by their names', async () => {
    const found = await gridgate('status', '-g', 'keep', '-s', 'done', '-o', 'name');
    expect(found.stdout).toBe(`${second}\n${first}\n`);
    const recent = ['status', '-g', 'keep', '-o', 'name', '--since'];
    expect((await gridgate(...recent, 'yesterday')).stdout).toContain(`${first}\n`);
    expect(
      (await gridgate('status', '-g', 'keep', '-o', 'name', '--until', 'yesterday')).stdout,
    ).toBe('');
  });

  it('say that nothing is found, and what a group is', async () => {
    const { code, stderr } = await gridgate('usage', '--group', 'keep');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^no run is found from .+\n--group is the group of people, such as grid_user; --job-group is that of jobs\n$/,
      ),
    ]);
    const divided = await gridgate('timeline', '--group', 'keep');
    expect([divided.code, divided.stderr]).toEqual([
      2,
      expect.stringMatching(/\nhint: --group divides by an attribute such as Site or JobGroup\n$/),
    ]);
    const empty = await gridgate('timeline', '--from', '2020-01-01', '--to', '2020-01-02');
    expect([empty.code, empty.stderr]).toEqual([0, 'no job is found\n']);
  });
});
