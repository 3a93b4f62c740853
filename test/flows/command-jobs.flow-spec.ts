import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser, type Ended } from '../support/command.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;
let jid: string;
let failed: string;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
  await user.login(grid);
  await writeFile(join(home, 'count.sh'), '#!/bin/sh\necho "counted $1"\nexit ${1:-0}\n');
  const submit = async (words: string[]): Promise<string> => {
    const { stdout } = await gridgate(
      ...['submit', '-e', 'count.sh', ...words, '--wait', '--json'],
    );
    return String((JSON.parse(stdout) as { jobs: { jid: number }[] }).jobs[0]?.jid);
  };
  jid = await submit(['-a', '0', '-n', 'good']);
  failed = await submit(['-a', '3', '-n', 'bad']);
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

describe('gridgate about jobs', () => {
  it('tells everything about a job', async () => {
    const { code, stdout, stderr } = await gridgate('describe', jid);
    expect([code, stderr]).toEqual([0, '']);
    for (const part of [
      `jid: ${jid}\nstatus: Done\n`,
      '\nMANIFEST\n',
      '  Executable: count.sh\n',
      '\nHISTORY\n  TIME ',
    ]) {
      expect(stdout).toContain(part);
    }
    const asJson = JSON.parse((await gridgate('describe', jid, '--json')).stdout) as object;
    expect(asJson).toMatchObject({ job: { jid: Number(jid) }, manifest: { JobName: 'good' } });
    expect((await gridgate('describe', 'x')).stderr).toContain('x is no job id');
    expect((await gridgate('describe', '99999')).code).toBe(2);
  });

  it('tells the states of a job, in each format', async () => {
    const names = (await gridgate('history', jid, '-o', 'name')).stdout.trimEnd().split('\n');
    expect([names[0], names.at(-1)]).toEqual(['Received', 'Done']);
    expect((await gridgate('history', jid)).stdout).toMatch(/^TIME +STATUS +MINOR STATUS/);
    const { stdout: json } = await gridgate('history', jid, '-o', 'json');
    const { history } = JSON.parse(json) as { history: unknown[] };
    expect(history).toHaveLength(names.length);
    expect((await gridgate('history', jid, '-o', 'yaml')).stdout).toMatch(/^"?history"?:\n/);
    const wrong = await gridgate('history', jid, '-o', 'xml');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Allowed choices')]);
  });

  it('lists jobs, says what it leaves out, and gives ids to other commands', async () => {
    const { code, stdout, stderr } = await gridgate('status', '--limit', '1', '-o', 'name');
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 0, stdout: `${failed}\n` },
      stderr: '1 of 2 jobs; --limit 2 shows all\n',
    });
    expect((await gridgate('status', '-o', 'wide')).stdout).toMatch(/OWNER +NAME +GROUP/);
    expect((await gridgate('status')).stderr).toBe('');
    expect(await gridgate('status', '--limit', '0')).toEqual(
      refused('--limit 0 is no number from 1 to 10000'),
    );
    expect((await gridgate('status', '-s', 'Nonsense')).code).toBe(2);
  });

  it('lets a job run again, and names those that cannot', async () => {
    const { code, stdout, stderr } = await gridgate('retry', failed, '99999');
    expect([code, stdout]).toEqual([2, `${failed} waits to run again\n`]);
    expect(stderr).toMatch(/^gridgate: 99999: .+\n$/);
    const { history } = JSON.parse((await gridgate('history', failed, '-o', 'json')).stdout) as {
      history: { status: string }[];
    };
    expect(history.map(({ status }) => status)).toContain('Rescheduled');
  });

  it('fetches one file of a sandbox, and never writes over one unasked', async () => {
    expect(await gridgate('cp', `${jid}:std.out`, '-')).toEqual({
      ...{ code: 0, stdout: 'counted 0\n', stderr: '' },
    });
    const file = join(home, 'std.out');
    expect((await gridgate('cp', `${jid}:std.out`)).stdout).toBe(`${file}\n`);
    expect(await readFile(file, 'utf8')).toBe('counted 0\n');
    expect(await gridgate('cp', `${jid}:std.out`)).toEqual(
      refused(`${file} is there already`, '--force replaces it'),
    );
    expect((await gridgate('cp', '--force', `${jid}:in:count.sh`, 'std.out')).code).toBe(0);
    expect(await readFile(file, 'utf8')).toContain('#!/bin/sh');
    const missing = await gridgate('cp', `${jid}:none`, 'none');
    expect(missing.code).toBe(2);
    await expect(stat(join(home, 'none'))).rejects.toThrow('ENOENT');
    expect((await gridgate('cp', 'file', 'other')).stderr).toContain('names no file of a job');
    expect(await gridgate('cp', `${jid}:std.out`, 'no/where')).toEqual(
      refused(`${join(home, 'no/where')} cannot be written (ENOENT)`),
    );
  });

  it('has a login for each profile', async () => {
    const away = await gridgate('--profile', 'other', 'status');
    expect([away.code, away.stderr]).toEqual([
      4,
      'gridgate: not logged in\nhint: run `gridgate login --server URL --profile other`\n',
    ]);
    const pki = (name: string): string => join(grid.home, 'pki', name);
    const proof = ['--cert', pki('bob.crt'), '--key', pki('bob.key'), '--ca', pki('ca.crt')];
    const login = await gridgate('login', '--profile', 'other', '--server', grid.url, ...proof);
    expect([login.code, login.stderr]).toEqual([0, '']);
    const who = async (...words: string[]): Promise<unknown> =>
      (JSON.parse((await gridgate('whoami', '--json', ...words)).stdout) as { user: string }).user;
    expect([await who(), await who('--profile', 'other')]).toEqual(['alice', 'bob']);
    const { mode } = await stat(join(home, '.config/gridgate/profiles/other.json'));
    expect(mode & 0o777).toBe(0o600);
    expect((await gridgate('profile', 'list', '-o', 'name')).stdout).toBe('default\nother\n');
    const { stdout: shown } = await gridgate('profile', 'show', 'other', '--json');
    expect(JSON.parse(shown)).toMatchObject({ profile: 'other', server: grid.url, user: 'bob' });
    expect(shown).not.toContain('token');
    expect((await gridgate('logout', '--profile', 'other')).code).toBe(0);
    expect(await who()).toBe('alice');
    expect(await gridgate('status', '--profile', '../x')).toEqual(
      refused('../x is no name of a profile', 'give up to 64 letters, digits, dots, - and _'),
    );
  });

  it('follows bytes that are no UTF-8 as they are', async () => {
    const args = JSON.stringify(['-c', "printf '\\351\\303'"]);
    await writeFile(join(home, 'bytes.json'), `{"Executable": "/bin/sh", "Arguments": ${args}}`);
    const odd = (await gridgate('submit', 'bytes.json')).stdout.trim();
    const bytes = await user.shell(`"$GRIDGATE" logs -f ${odd} | od -An -tx1`);
    expect(bytes).toEqual({ code: 0, stdout: ' e9 c3\n', stderr: '' });
  });
});

/** Scripts as people have them for sbatch, with what they print after `#SBATCH` has become `#GRID`. */
const SCRIPTS: [name: string, text: string, words: string[], printed: RegExp][] = [
  [
    'hello.sh',
    `#!/bin/bash
#SBATCH --job-name=hello
#SBATCH --ntasks=1
#SBATCH --time=00:05:00
#SBATCH --mem=100M

echo "hello from $(hostname) with $1"`,
    ['a b'],
    /^hello from .* with a b\n$/,
  ],
  [
    'short-options.sh',
    `#!/bin/bash -l
#SBATCH -J short
#SBATCH -N 1 -n 1 -c 1
#SBATCH -t 10
#SBATCH -o short.%j.log
#SBATCH -e short.%j.err
#SBATCH -p debug
#SBATCH -A project42
set -euo pipefail
echo "$SLURM_NTASKS task of $SLURM_CPUS_PER_TASK"`,
    [],
    /^1 task of 1\n$/,
  ],
  [
    'numbers.py',
    `#!/usr/bin/env python3
#SBATCH --time=5
#SBATCH --mem-per-cpu=64M   # it's small
import sys
print(sum(int(word) for word in sys.argv[1:]))`,
    ['1', '2'],
    /^3\n$/,
  ],
  [
    'mail.sh',
    `#!/bin/sh
#SBATCH --mail-type=BEGIN,END,FAIL
#SBATCH --mail-user=alice@example.org
#SBATCH --qos=normal --requeue
#SBATCH --export=GREETING="good day",ALL
echo "$GREETING"`,
    [],
    /^good day\n$/,
  ],
  [
    'here.sh',
    `#!/bin/bash
#SBATCH --time=0-00:05
cat > settings.ini <<'END'
#SBATCH --this-is-text
value=7
END
grep value settings.ini`,
    [],
    /^value=7\n$/,
  ],
  [
    'logs.sh',
    `#!/bin/bash
#SBATCH --output=logs/%x_%j.out
#SBATCH --error=/dev/null
module load gcc 2>/dev/null || true
echo built`,
    [],
    /^built\n$/,
  ],
];

describe('gridgate submit of a script', () => {
  const write = async (name: string, text: string): Promise<void> =>
    writeFile(join(home, name), `${text.replaceAll('#SBATCH', '#GRID')}\n`);
  const submitted = async (...words: string[]): Promise<{ jid: string; stderr: string }> => {
    const { stdout, stderr } = await gridgate('submit', '--wait', '-o', 'name', ...words);
    return { jid: stdout.trim(), stderr };
  };

  it.each(SCRIPTS)('runs %s', async (name, text, words, printed) => {
    await write(name, text);
    const { jid: made, stderr } = await submitted(name, ...words);
    expect(stderr).not.toContain('gridgate:');
    expect((await gridgate('logs', made)).stdout).toMatch(printed);
    const planned = async (): Promise<string> =>
      (await gridgate('submit', '--dry-run', '--json', name, ...words)).stdout;
    const asGrid = await planned();
    await writeFile(join(home, name), `${text}\n`);
    expect([await planned(), asGrid]).toEqual([asGrid, expect.stringContaining(name)]);
  });

  it('asks the service for what its lines ask for, and the command line goes before them', async () => {
    await write('asks.sh', '#!/bin/sh\n#SBATCH --ntasks=2 --time=1-0 --mem=1G --gres=gpu:1\n');
    const words = ['--cpus', '1', '--gpus', '0', '--env', 'A=1', '--tag', 'here', '--name', 'mine'];
    const { stdout } = await gridgate(
      ...['submit', '--dry-run', '--json', ...words, 'asks.sh', '--wait'],
    );
    expect(JSON.parse(stdout).manifests).toEqual([
      expect.objectContaining({
        ...{ Executable: 'asks.sh', Arguments: ['--wait'], JobName: 'mine', WallTime: 86_400 },
        ...{ NumberOfProcessors: 1, GPUs: 0, MinRAM: 1024, MaxRAM: 1024, Tags: ['here'] },
        ExecutionEnvironment: { A: '1' },
      }),
    ]);
  });

  it('makes an array whose jobs know their number', async () => {
    await write(
      'array.sh',
      '#!/bin/bash\n#SBATCH --array=2-6:2%2\n#SBATCH -o a_%A_%a.txt\necho "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"',
    );
    const { jid: jids, stderr } = await submitted('array.sh');
    expect(stderr).toContain('the array makes 3 job(s)');
    expect(stderr).toContain('not only 2');
    const printed = await Promise.all(
      jids.split('\n').map(async (one) => (await gridgate('logs', one)).stdout),
    );
    expect(printed).toEqual(['task 2 of 3\n', 'task 4 of 3\n', 'task 6 of 3\n']);
  });

  it('waits for the jobs that it depends on', async () => {
    await write('first.sh', '#!/bin/sh\n#SBATCH --parsable\nexit 0');
    const first = (await gridgate('submit', 'first.sh')).stdout.trim();
    await write('second.sh', `#!/bin/sh\n#SBATCH -d afterok:${first}\n#SBATCH --chdir=.\n`);
    expect(await gridgate('submit', 'second.sh')).toEqual(
      refused(
        'second.sh line 3: --chdir . is not offered here: a job begins in a directory of its own: --file sends what it needs there',
      ),
    );
    await write('second.sh', '#!/bin/sh\necho second');
    const { jid: second } = await submitted(`--dependency=afterok:${first}`, 'second.sh');
    expect((await gridgate('logs', second)).stdout).toBe('second\n');
  });

  it('names everything that it does not offer', async () => {
    await write(
      'parallel.sh',
      '#!/bin/bash\n#SBATCH --nodes=4 --ntasks-per-node=32\n#SBATCH --exclusive\n#SBATCH --gres=gpu:a100:2\nsrun ./solver',
    );
    const { code, stderr } = await gridgate('submit', 'parallel.sh');
    const lines = stderr.trimEnd().split('\n');
    expect([
      code,
      lines.map((line) => line.replace(/^(?:gridgate: )?(\S+ line \d+: \S+).*/, '$1')),
    ]).toEqual([
      2,
      [
        'parallel.sh line 2: --nodes',
        'parallel.sh line 3: --exclusive',
        'parallel.sh line 4: --gres',
      ],
    ]);
  });

  it('tells what a script uses of Slurm, and lines that are not read', async () => {
    await writeFile(
      join(home, 'slurm.sh'),
      '#!/bin/bash\n#SBATCH -n 1\ncd "$SLURM_SUBMIT_DIR"\nsrun wc table.csv # count.sh\n#GRID -n 2\n',
    );
    await writeFile(join(home, 'table.csv'), '1\n');
    const { stderr } = await gridgate('submit', '--dry-run', 'slurm.sh', './count.sh', '--wait');
    expect(stderr.trimEnd().split('\n')).toEqual([
      'warning: slurm.sh line 2: #SBATCH lines are not read: write #GRID',
      'warning: slurm.sh line 5: #GRID is read above the first command only',
      'warning: slurm.sh line 3: the script uses SLURM_SUBMIT_DIR, which only a site with Slurm sets: a job begins in a directory of its own, $HOME',
      'warning: slurm.sh line 4: srun is there only where the site has Slurm: call the program itself',
      'warning: count.sh lies here and does not go along: --file count.sh sends it',
      'warning: table.csv lies here and does not go along: --file table.csv sends it',
      'warning: --wait goes to slurm.sh: options of submit stand before it',
    ]);
  });

  it('takes one by standard input, as sbatch does', async () => {
    const line = `printf '#!/bin/sh\n#GRID -J typed\necho typed $1\n' | "${process.execPath}" "$GRIDGATE" submit --wait -o name - one`;
    const { stdout } = await user.shell(line);
    expect((await gridgate('logs', stdout.trim())).stdout).toBe('typed one\n');
    expect((await gridgate('get', stdout.trim())).stdout).toContain('name: typed\n');
  });
});

describe('gridgate submit of what is no script', () => {
  it('tells that a program of this machine goes along, and how that of the site runs', async () => {
    const { code, stderr } = await gridgate('submit', '--dry-run', '/bin/true');
    const hint = '--exec /bin/true runs that of the site';
    expect([code, stderr]).toEqual([0, `warning: /bin/true of this machine goes along: ${hint}\n`]);
    expect(await gridgate('submit', '/nowhere/program')).toEqual(
      refused(
        'there is no /nowhere/program here',
        '--exec /nowhere/program runs a program of the site',
      ),
    );
  });

  it('takes what describe has printed', async () => {
    const { stdout } = await gridgate('describe', jid, '-o', 'json');
    await writeFile(join(home, 'again.json'), stdout);
    const again = await gridgate('submit', '--wait', '-o', 'name', 'again.json');
    const printed = (await gridgate('logs', jid)).stdout;
    expect((await gridgate('logs', again.stdout.trim())).stdout).toBe(printed);
  });

  it('does not send a file that comes from the catalogue', async () => {
    await writeFile(join(home, 'here.csv'), '1\n');
    const told = async (...words: string[]): Promise<string> =>
      (await gridgate('submit', '--dry-run', ...words, './count.sh', 'here.csv')).stderr;
    expect(await told()).toContain('here.csv lies here and does not go along');
    expect(await told('--input-data', '/vo/a/here.csv')).not.toContain('lies here');
  });
});

describe('gridgate run', () => {
  it('shows what a command writes, and ends with its exit code', async () => {
    const done = await gridgate('run', '--', '/bin/sh', '-c', 'echo out; echo err >&2');
    expect([done.code, done.stdout]).toEqual([0, 'out\n']);
    expect(done.stderr).toMatch(/^job \d+: Ctrl-C kills it\nerr\n$/);
    const missing = await gridgate('run', 'no-such-program');
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('has ended as Failed (Application not found: '),
    ]);
    const failed = await gridgate('run', './count.sh', '7');
    expect([failed.code, failed.stdout]).toEqual([7, 'counted 7\n']);
    expect(failed.stderr).toMatch(
      /\ngridgate: job \d+ has ended as Failed \(.*Exited with code 7\)\n/,
    );
  });

  it('kills the job when it is interrupted', async () => {
    const running = user.start(['run', '--', '/bin/sh', '-c', 'echo begun; sleep 600']);
    await eventually(() => Promise.resolve(running.stdout === 'begun\n'), 'the job');
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended();
    expect(code).toBe(130);
    const [, job = ''] = /^job (\d+)/.exec(stderr) ?? [];
    expect(stderr).toContain(`job ${job} has ended as Killed, by alice\n`);
    expect((await gridgate('why', job)).stdout).toBe(`${job} has ended as Killed, by alice\n`);
  });
});

describe('gridgate why, of a job that has ended', () => {
  it('says why, and what helps', async () => {
    const { jid: bad } = JSON.parse(
      (await gridgate('submit', '-e', 'count.sh', '-a', '3', '--wait', '--json')).stdout,
    ).jobs[0] as { jid: number };
    const why = await gridgate('why', String(bad));
    expect(why).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: [
        `${bad} has ended as Failed (Application Finished With Errors: Exited with code 3)`,
        'exit code: 3',
        'The program itself ended with an error: its last words say more. Mend the program or its arguments, then submit it again.',
        `look at \`gridgate logs -e ${bad}\` and \`gridgate describe ${bad}\``,
        '',
      ].join('\n'),
    });
    const json = JSON.parse((await gridgate('why', String(bad), '--json')).stdout) as object;
    expect(json).toMatchObject({ jid: bad, status: 'Failed', exitCode: 3 });
    expect((await gridgate('why', jid)).stdout).toBe(
      `${jid} has ended as Done (Execution Complete)\nexit code: 0\n`,
    );
  });
});
