import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormData } from 'undici';
import { CommandUser } from '../support/command.js';
import { awaitStatus } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TIME = '2021-03-04T05:06:07.000Z';

describe('modes and times of files in sandboxes', () => {
  let home: string;
  let grid: Grid;
  let alice: GridClient;
  let user: CommandUser;
  let jid: number;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'grid-modes-'));
    grid = await startGrid();
    alice = await grid.as('alice');
    user = new CommandUser(home);
    await user.login(grid);
    const script = [
      './helper.py; ./tool 2; test ! -x data || echo data can be executed',
      'cp helper.py made; ln -s made link',
      'echo 1 > plain; touch -d @1614834367 made plain; touch -d 2120-01-01 later',
    ].join('; ');
    const form = new FormData();
    const outputs = ['std.out', 'made', 'plain', 'link', 'later'];
    const manifest = { Executable: '/bin/sh', Arguments: ['-c', script], OutputSandbox: outputs };
    form.append('manifest', JSON.stringify(manifest));
    form.append('file', new File(['#!/bin/sh\necho helped'], 'helper.py'));
    form.append('file', new File(['#!/usr/bin/expr 1 +'], 'tool'));
    form.append('file', new File(['echo data'], 'data'));
    const answer = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    jid = answer.body.jids[0] ?? 0;
    await awaitStatus(alice, jid, ['Done']);
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  const modeOf = async (name: string): Promise<[boolean, string]> => {
    const info = await stat(join(home, name));
    return [(info.mode & 0o111) !== 0, info.mtime.toISOString()];
  };

  it('lets a job execute what was uploaded with a #! line, and no other file', async () => {
    const { bytes } = await alice.get(`/jobs/${jid}/outputsandbox/files/std.out`);
    expect(bytes.toString()).toContain('helped\n');
    expect(bytes.toString()).not.toContain('data');
    expect((await alice.get(`/jobs/${jid}/inputsandbox/files`)).body.files).toEqual([
      { name: 'helper.py', size: 21, executable: true },
      { name: 'tool', size: 19, executable: true },
      { name: 'data', size: 9 },
    ]);
  });

  it('tells them of each file of the output, and no time that is still to come', async () => {
    const { body } = await alice.get(`/jobs/${jid}/outputsandbox/files`);
    expect(body.files.slice(1)).toEqual([
      { name: 'made', size: 21, executable: true },
      { name: 'plain', size: 2 },
      { name: 'link', size: 21, link: 'made', executable: true },
      { name: 'later', size: 0 },
    ]);
    const modified = async (path: string): Promise<unknown> =>
      (await alice.get(`/jobs/${jid}/${path}`)).headers['last-modified'];
    expect(await modified('outputsandbox/files/link')).toBe(new Date(TIME).toUTCString());
    expect(await modified('output/plain')).toBe(new Date(TIME).toUTCString());
    expect(await modified('inputsandbox/files/data')).toBeUndefined();
    const later = new Date(String(await modified('output/later'))).getTime();
    expect(later).toBeLessThanOrEqual(Date.now());
  });

  it('keeps them in what the command fetches', async () => {
    expect((await user.run(['output', String(jid), '-C', 'all'])).code).toBe(0);
    for (const name of ['made', 'plain']) {
      expect((await user.run(['cp', `${jid}:${name}`, `one-${name}`])).code).toBe(0);
    }
    for (const place of ['all/', 'one-']) {
      expect(await modeOf(`${place}made`)).toEqual([true, TIME]);
      expect(await modeOf(`${place}plain`)).toEqual([false, TIME]);
    }
    expect((await modeOf('all/later'))[1]).toBe('2120-01-01T00:00:00.000Z');
    expect((await user.run(['cp', `${jid}:in:helper.py`, 'again'])).code).toBe(0);
    expect((await modeOf('again'))[0]).toBe(true);
  });

  it('lets those alone execute what the command fetches who may read it', async () => {
    const fetched = async (line: string, name: string): Promise<number> => {
      expect(await user.shell(line)).toMatchObject({ code: 0 });
      return (await stat(join(home, name))).mode & 0o777;
    };
    const fresh = `umask 077; $GRIDGATE cp ${jid}:made own; $GRIDGATE cp ${jid}:plain own-plain`;
    expect(await fetched(fresh, 'own')).toBe(0o700);
    expect((await stat(join(home, 'own-plain'))).mode & 0o777).toBe(0o600);
    const shared = `umask 022; $GRIDGATE cp ${jid}:made shared`;
    expect(await fetched(shared, 'shared')).toBe(0o755);
    const over = `umask 022; touch old; chmod 0640 old; $GRIDGATE cp --force ${jid}:made old`;
    expect(await fetched(over, 'old')).toBe(0o750);
    const pipe = `mkfifo -m 0640 pipe; cat pipe >through & $GRIDGATE cp --force ${jid}:made pipe; wait`;
    expect(await fetched(pipe, 'pipe')).toBe(0o640);
    expect((await stat(join(home, 'through'))).size).toBe(21);
  });
});
