import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { SshConnection } from './ssh-connection.js';
import type { SlurmError } from './slurm-error.js';

it('a site is reached again when there is room for the directory of its sockets again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-ssh-'));
  try {
    const [identityFile, knownHostsFile] = [join(directory, 'key'), join(directory, 'hosts')];
    for (const path of [identityFile, knownHostsFile]) await writeFile(path, 'x', { mode: 0o600 });
    const temporary = join(directory, 'temporary');
    const settings = { host: '127.0.0.1', port: 1, user: 'grid', timeoutMs: 10_000 };
    const connection = new SshConnection({ ...settings, identityFile, knownHostsFile }, temporary);
    const fault = (): Promise<unknown> =>
      connection
        .run(['true'])
        .catch((error: unknown) => [(error as SlurmError).fault, (error as SlurmError).message]);
    expect(await fault()).toEqual([
      'away',
      expect.stringContaining('no directory for the sockets of ssh: ENOENT'),
    ]);
    await mkdir(temporary);
    expect(await fault()).toEqual(['away', expect.not.stringContaining('sockets')]);
    await connection.close();
  } finally {
    await rm(directory, { recursive: true });
  }
});
