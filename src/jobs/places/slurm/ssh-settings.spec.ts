import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { submitWords } from './slurm-ssh.js';
import { fileFault, sshFaultOf } from './ssh-fault.js';
import { remoteLine, sshOptions, sshTarget } from './ssh-settings.js';

const SETTINGS = {
  ...{ host: 'login.example.org', port: 2222, user: 'grid', timeoutMs: 9_500 },
  ...{ identityFile: '/etc/grid/key', knownHostsFile: '/etc/grid/hosts' },
};

describe('a call of ssh', () => {
  it('believes no key but those of the site, and uses no key, agent or file beside', () => {
    const options = sshOptions(SETTINGS, '/tmp/x/%C');
    expect(options.slice(0, 2)).toEqual(['-F', 'none']);
    expect(options).toEqual(
      expect.arrayContaining([
        ...['BatchMode=yes', 'StrictHostKeyChecking=yes', 'UserKnownHostsFile=/etc/grid/hosts'],
        ...['GlobalKnownHostsFile=/dev/null', 'VerifyHostKeyDNS=no', 'UpdateHostKeys=no'],
        ...['IdentityFile=/etc/grid/key', 'IdentitiesOnly=yes', 'IdentityAgent=none'],
        ...['ForwardAgent=no', 'ClearAllForwardings=yes', 'PreferredAuthentications=publickey'],
        ...['ConnectTimeout=9', 'ControlPath=/tmp/x/%C'],
      ]),
    );
    expect(sshTarget(SETTINGS)).toEqual(['-p', '2222', '-l', 'grid', '--', 'login.example.org']);
  });

  it.each([
    ["it's"],
    ['$(id) `id` ; | & > < * ? ~ # ! \\ "x"'],
    [' blanks  and\ttabs '],
    ['-rf'],
    [''],
    ['grün'],
  ])('hands the word %j to the command as it is', (word) => {
    const line = remoteLine(['printf', '[%s]', word], SETTINGS, '/usr/bin:/bin');
    expect(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })).toBe(`[${word}]`);
  });

  it('keeps nothing of the environment there', () => {
    const own = { ...SETTINGS, programs: '/opt/slurm/bin', configFile: '/etc/slurm.conf' };
    const line = remoteLine(['env'], own, '/usr/bin:/bin');
    const env = { PATH: '/usr/bin:/bin', SBATCH_PARTITION: 'evil' };
    expect(
      execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8', env }).trim().split('\n').sort(),
    ).toEqual([
      ...['LANG=C.UTF-8', 'PATH=/opt/slurm/bin:/usr/bin:/bin', 'SLURM_CONF=/etc/slurm.conf'],
    ]);
  });

  it.each(['a\nb', 'a\rb', 'a\0b'])('refuses the word %j', (word) => {
    expect(() => remoteLine([word], SETTINGS, '/bin')).toThrow(/line break|NUL/);
  });

  it('asks sbatch for what the job asks for, and nothing else', () => {
    const submission = {
      ...{ name: 'gridgate', comment: 'grid:7:1:abcd', script: '#!/bin/sh\n', directory: '/w' },
      ...{
        tasks: 3,
        timeLimitMinutes: 5,
        cpus: 2,
        memoryMb: 400,
        qos: '; rm -rf /',
        environment: {},
      },
    };
    expect(submitWords(submission)).toEqual([
      ...['sbatch', '--parsable', '--export=ALL', '--no-requeue', '--job-name=gridgate'],
      ...['--comment=grid:7:1:abcd', '--chdir=/w', '--output=/dev/null', '--error=/dev/null'],
      ...['--input=/dev/null', '--time=5', '--nodes=1', '--ntasks=1', '--cpus-per-task=2'],
      ...['--array=0-2', '--mem=400M', '--qos=; rm -rf /'],
    ]);
  });
});

describe('what ssh says', () => {
  it.each([
    [
      'No ED25519 host key is known for [h]:22 and you have requested strict checking.\nHost key verification failed.',
      'the key of login.example.org is not in knownHostsFile',
    ],
    [
      '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.',
      'the key of login.example.org is another one than knownHostsFile says',
    ],
    [
      'grid@h: Permission denied (publickey).',
      'login.example.org does not take the key of identityFile for grid',
    ],
    ['Load key "/k": invalid format', 'identityFile is no key without a passphrase'],
    [
      'ssh: connect to host h port 22: Connection refused\r\n',
      'ssh: connect to host h port 22: Connection refused',
    ],
    ['', 'ssh: it says nothing'],
    [`a\u001b[2Jb${'x'.repeat(500)}`, `ssh: a [2Jb${'x'.repeat(194)}`],
  ])('%j is told as %j', (stderr, text) => {
    expect(sshFaultOf(stderr, SETTINGS)).toBe(text);
  });
});

describe('files of a connection by ssh', () => {
  let directory: string;
  let settings: typeof SETTINGS;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ssh-files-'));
    const [identityFile, knownHostsFile] = [join(directory, 'key'), join(directory, 'hosts')];
    writeFileSync(identityFile, '', { mode: 0o600 });
    writeFileSync(knownHostsFile, '', { mode: 0o644 });
    settings = { ...SETTINGS, identityFile, knownHostsFile };
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('may be used when nobody else can read the key or write the hosts', async () => {
    expect(await fileFault(settings)).toBeUndefined();
  });

  it.each([0o640, 0o604, 0o660])('are refused with a key of mode %o', async (mode) => {
    chmodSync(settings.identityFile, mode);
    expect(await fileFault(settings)).toBe('identityFile can be read by others than the service');
  });

  it('are refused with hosts that others can write', async () => {
    chmodSync(settings.knownHostsFile, 0o664);
    expect(await fileFault(settings)).toBe(
      'knownHostsFile can be written by others than the service',
    );
  });

  it('are refused when they are not there, or are no files', async () => {
    rmSync(settings.knownHostsFile);
    expect(await fileFault(settings)).toBe('knownHostsFile is not there');
    rmSync(settings.identityFile);
    mkdirSync(settings.identityFile);
    expect(await fileFault(settings)).toBe('identityFile is no file');
  });
});
