import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandUser, type Ended } from '../support/command.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let home: string;
let user: CommandUser;

beforeAll(async () => {
  grid = await startGrid();
  home = await mkdtemp(join(tmpdir(), 'grid-command-'));
  user = new CommandUser(home);
  await user.login(grid);
  await writeFile(join(home, 'exit.sh'), '#!/bin/sh\necho "$*"\nexit ${1:-0}\n');
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
const json = async <T>(...words: string[]): Promise<T> => {
  const { stdout } = await gridgate(...words, '-o', 'json');
  return JSON.parse(stdout) as T;
};

describe('gridgate submit', () => {
  it('makes a job of each combination of a sweep, as an array', async () => {
    const sweep = ['--sweep', 'x=0:1', '--sweep', 'y=a,b'];
    const checked = await gridgate(
      'submit',
      '-e',
      'exit.sh',
      '-a',
      '0 %(x)s-%(y)s',
      ...sweep,
      '--dry-run',
    );
    expect(checked).toEqual({
      code: 0,
      stdout: 'valid: 4 job(s)\n',
      stderr: 'the sweep makes 4 job(s)\n',
    });
    const words = ['submit', '-e', 'exit.sh', '-a', '0 %(x)s-%(y)s', '-g', 'swept', ...sweep];
    const { stdout, stderr } = await gridgate(...words, '--wait', '-o', 'name');
    expect(stderr).toMatch(/^the sweep makes 4 job\(s\)\narray \d+\n$/);
    const jids = stdout.trimEnd().split('\n');
    const printed = await Promise.all(
      jids.map(async (jid) => (await gridgate('logs', jid)).stdout),
    );
    expect(printed).toEqual(['0 0-a\n', '0 0-b\n', '0 1-a\n', '0 1-b\n']);
    expect(await gridgate('submit', '-e', 'exit.sh', '-a', '%(x)s', ...sweep)).toEqual(
      refused(
        'the jobs of the sweep are all the same',
        "put %(y)s into the manifest, for example --args '%(y)s'; --array 1-10 makes ten that are the same",
      ),
    );
  });

  it('asks before a sweep of more than a thousand jobs', async () => {
    const words = ['submit', '-e', 'exit.sh', '-a', '%(x)s', '--sweep', 'x=1:1001'];
    const { code, stdout, stderr } = await gridgate(...words);
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 2, stdout: '' },
      stderr:
        'the sweep makes 1001 job(s)\ngridgate: Submit 1001 jobs? Nobody can be asked here\nhint: --yes does it\n',
    });
    expect((await gridgate(...words, '--dry-run')).stdout).toBe('valid: 1001 job(s)\n');
  });

  it('takes several files, all or none, and templates', async () => {
    const write = (name: string, value: unknown): Promise<void> =>
      writeFile(join(home, name), JSON.stringify(value));
    await write('first.json', { Executable: '/bin/true', Label: 'first' });
    await write('second.json', {
      ...{ Executable: 'exit.sh', Arguments: '0 {{what}}', Priority: '{{priority}}' },
      After: [{ label: 'first' }],
    });
    const files = ['submit', 'first.json', 'second.json'];
    const settings = ['--set', 'what=a {{x}}', '--set', 'priority=7', '--wait'];
    const { jobs } = await json<{ jobs: { jid: number }[] }>(...files, ...settings);
    const jids = jobs.map(({ jid }) => jid);
    expect(jids).toHaveLength(2);
    expect((await gridgate('logs', String(jids[1]))).stdout).toBe('0 a {{x}}\n');
    expect(await json('get', String(jids[1]))).toMatchObject({ priority: 7, status: 'Done' });
    expect(await gridgate(...files, '--set', 'what=1', '--set', 'extra=1')).toEqual(
      refused(
        '{{priority}} is not filled: --set priority=… is missing\n--set extra: no manifest has {{extra}}',
      ),
    );
    const unset = await gridgate(...files, '--dry-run');
    expect(unset.stderr).toContain('warning: {{what}} stays as it is: --set what=… fills it\n');
    await write('mixed.json', { manifests: [{ Executable: '/bin/true' }], array: true });
    expect((await gridgate('submit', 'mixed.json')).stderr).toContain('--array makes an array');
  });
});

describe('gridgate about many jobs', () => {
  it('tells the exit code, age and owner of jobs', async () => {
    await gridgate('submit', '-e', 'exit.sh', '-a', '3', '-g', 'columns', '--wait');
    const { stdout } = await gridgate('status', '-g', 'columns');
    expect(stdout).toMatch(/^JID +STATUS +MINOR STATUS +EXIT +AGE +SITE +OWNER +NAME\n/);
    expect(stdout).toMatch(
      /\d+ +Failed +Application Finished With Errors +3 +\d+s +LOCAL\.\w+ +alice +exit\.sh\n$/,
    );
  });

  it('kills, holds, releases and retries what a filter finds, once it is allowed to', async () => {
    await writeFile(join(home, 'far.json'), '{"Executable": "/bin/true", "Tags": ["nowhere"]}');
    const submit = ['submit', 'far.json', 'far.json', '-g', 'many'];
    const jids = (await gridgate(...submit)).stdout.trimEnd().split('\n');
    const done = await gridgate('submit', '-e', 'exit.sh', '-g', 'many', '--wait', '-o', 'name');
    expect(done.code).toBe(0);
    const leftOut = (text: string): string => `left out: ${text}\n`;
    expect(await gridgate('hold', '-g', 'many')).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: `${leftOut('1 job(s) that do not wait, or are held')}gridgate: hold 2 job(s) (Waiting 2)? Nobody can be asked here\nhint: --yes does it\n`,
    });
    const names = async (...words: string[]): Promise<string[]> =>
      (await gridgate(...words, '-g', 'many', '--yes', '-o', 'name')).stdout
        .trimEnd()
        .split('\n')
        .sort();
    expect(await names('hold')).toEqual(jids);
    expect(await gridgate('hold', '-g', 'many', '--yes')).toMatchObject({
      ...{
        code: 2,
        stderr: `${leftOut('3 job(s) that do not wait, or are held')}gridgate: no job to hold\n`,
      },
    });
    expect(await names('release')).toEqual(jids);
    expect(await names('kill')).toEqual(jids);
    expect((await gridgate('retry', '-g', 'many', '--yes')).stderr).toContain('no job to retry');
    expect(await json('status', ...jids)).toMatchObject({
      jobs: [{ status: 'Killed' }, { status: 'Killed' }],
    });
  });

  it('refuses to guess which jobs are meant', async () => {
    expect(await gridgate('kill')).toEqual(
      refused('kill which jobs?', 'give ids, or a filter such as --group NAME or --status Waiting'),
    );
    expect(await gridgate('kill', '1', '-s', 'Waiting')).toEqual(
      refused('give job ids or a filter, not both'),
    );
    expect(await gridgate('kill', '--where', 'site', '--yes')).toEqual(
      refused('--where site is not key=value'),
    );
    expect((await gridgate('kill', '--where', 'sight=X', '--yes')).code).toBe(2);
    expect((await gridgate('kill', '--all')).code).toBe(2);
  });
});

describe('gridgate at a terminal and in a pipe', () => {
  it('ends quietly when nobody reads on', async () => {
    const line = `${process.execPath} "$GRIDGATE" status -o yaml | head -n 1`;
    const { code, stdout, stderr } = await user.shell(line);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '"jobs":\n', stderr: '' });
  });

  it('colours states where a person looks, and heeds NO_COLOR', async () => {
    const done = '\u001b[32mDone';
    expect((await gridgate('status')).stdout).not.toContain('\u001b');
    const forced = { FORCE_COLOR: '1' };
    expect((await user.run(['status'], forced)).stdout).toContain(done);
    expect((await user.run(['status', '--no-color'], forced)).stdout).not.toContain('\u001b');
    expect((await user.run(['--no-color', 'status'], forced)).stdout).not.toContain('\u001b');
    expect((await user.run(['status', '-o', 'json'], forced)).stdout).not.toContain('\u001b');
  });

  it('uses the login to a server, and sends its token nowhere else', async () => {
    expect((await gridgate('status', '--server', `${grid.url}/`, '-l', '1')).code).toBe(0);
    expect((await gridgate('--server', grid.url, 'whoami')).code).toBe(0);
    expect(await gridgate('status', '--server', 'https://127.0.0.1:1')).toEqual({
      ...{ code: 4, stdout: '' },
      stderr:
        'gridgate: not logged in to https://127.0.0.1:1\nhint: run `gridgate login --server https://127.0.0.1:1 --profile NAME`\n',
    });
  });
});

describeWith({ met: has('script'), name: 'script (util-linux)' })('questions', () => {
  it('are asked at a terminal, and no is the answer to anything else', async () => {
    await writeFile(join(home, 'wait.json'), '{"Executable": "/bin/true", "Tags": ["nowhere"]}');
    const jid = (await gridgate('submit', 'wait.json', '-g', 'asked')).stdout.trim();
    const no = await user.atTerminal('echo no | script -qfec "$GRIDGATE kill -g asked" /dev/null');
    expect(no.stdout).toContain('kill 1 job(s) (Waiting 1)? [y/N]');
    expect((await gridgate('status', jid)).stdout).toContain('Waiting');
    const yes = await user.atTerminal(
      'echo yes | script -qfec "$GRIDGATE kill -g asked" /dev/null',
    );
    expect(yes.stdout).toContain(`${jid} killed`);
  });
});

describe('gridgate completion', () => {
  it('knows words below words, in bash itself', async () => {
    await writeFile(
      join(home, 'complete.sh'),
      [
        `eval "$(${process.execPath} "$GRIDGATE" completion bash)"`,
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gridgate; echo "${COMPREPLY[*]}"; }',
        'ask gridgate catal',
        'ask gridgate catalogue repl',
        'ask gridgate catalogue meta --inh',
        'ask gridgate token ex',
        'ask gridgate kill --wh',
      ].join('\n'),
    );
    expect(await user.shell('bash complete.sh')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: 'catalogue\nreplicas\n--inherited\nexchange\n--where\n',
    });
  });
});

describe('gridgate help', () => {
  it('names what is nearest to a word that it does not know', async () => {
    expect(await gridgate('statu')).toEqual(
      refused("unknown command 'statu'", 'did you mean status?'),
    );
    expect(await gridgate('status', '--limt', '4')).toEqual(
      refused("unknown option '--limt'", 'did you mean --limit?'),
    );
    expect(await gridgate('nonsense')).toEqual(
      refused("unknown command 'nonsense'", '`gridgate --help` shows what there is'),
    );
    expect(await gridgate('describe')).toEqual(
      refused("missing required argument 'jid'", '`gridgate describe --help` shows what there is'),
    );
  });

  it('shows the commands in groups, those for administrators last', async () => {
    const { stdout } = await gridgate('--help');
    expect(stdout.match(/^[A-Z].*:$/gm)).toEqual([
      'Options:',
      'Login:',
      'Jobs:',
      'Looking into jobs:',
      'File catalogue:',
      'Notices:',
      'For administrators, beside the service:',
      'Help:',
    ]);
  });
});
