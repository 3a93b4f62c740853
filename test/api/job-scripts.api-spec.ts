import { readFileSync } from 'node:fs';
import { FormData } from 'undici';
import { awaitFinal, sandboxOf } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const LEVELS = process.getuid?.() === 0 ? ['namespaces', 'accounts', 'none'] : ['namespaces'];

describe.each(LEVELS)('an uploaded program at level %s', (level) => {
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    grid = await startGrid({ ownProcess: true, env: { GRID_LOCAL_ISOLATION: level } });
    alice = await grid.as('alice');
  });
  afterAll(async () => grid.remove());

  const run = async (content: string | Buffer, more: object = {}) => {
    const form = new FormData();
    form.append('manifest', JSON.stringify({ Executable: 'run.sh', ...more }));
    form.append('file', new File([content], 'run.sh'));
    form.append('file', new File(['#!/bin/sh\necho "tool $1"\n'], 'tool'));
    const answer = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    expect(answer.status).toBe(200);
    const [job] = await awaitFinal(alice, answer.body.jids);
    if (!job) throw new Error('no job');
    const { jid, status, minorStatus, appStatus } = job;
    return { jid, end: [status, minorStatus, appStatus] };
  };

  it.each<[string, string, string]>([
    ['that has CRLF', '#!/bin/bash\r\necho hello\r\n', '"#!/bin/bash\\r"'],
    ['that has CRLF behind env', '#!/usr/bin/env sh\r\n', '"#!/usr/bin/env sh\\r"'],
    ['whose interpreter is not there', '#!/opt/nowhere/python\n', '"#!/opt/nowhere/python"'],
    ['whose interpreter is a directory', '#!/usr/bin\n', '"#!/usr/bin"'],
    ['whose interpreter is no program', '#!/etc/ld.so.cache\n', '"#!/etc/ld.so.cache"'],
    ['whose interpreter was not uploaded', '#!./none\n', '"#!./none"'],
    ['that env does not find', '#!/usr/bin/env none\n', '"#!/usr/bin/env none"'],
    ['that env -S does not find', '#!/usr/bin/env -S none -u\n', '"#!/usr/bin/env -S none -u"'],
    ['with options for env', '#!/usr/bin/env sh -e\n', '"#!/usr/bin/env sh -e"'],
  ])('%s is not found, with its first line', async (_what, content, line) => {
    expect((await run(content)).end).toEqual([
      'Failed',
      'Application not found',
      `The interpreter of run.sh was not found: ${line}`,
    ]);
  });

  it.each<[string, string | Buffer]>([
    ['with a blank behind #!', '#! /bin/sh\necho ran\n'],
    ['started by env', '#!/usr/bin/env sh\necho ran\n'],
    ['started by env -S', '#!/usr/bin/env -S sh -e\necho ran\n'],
    ['without #!, with CRLF', 'echo ran #\r\n'],
  ])('%s runs', async (_what, content) => {
    const { jid, end } = await run(content);
    expect(end).toEqual(['Done', 'Execution Complete', 'Unknown']);
    expect((await sandboxOf(alice, jid))['std.out']).toBe('ran\n');
  });

  it('that is empty, and a binary, run', async () => {
    const done = ['Done', 'Execution Complete', 'Unknown'];
    expect((await run('')).end).toEqual(done);
    expect((await run(readFileSync('/bin/true'))).end).toEqual(done);
  });

  it('finds an interpreter that was uploaded with it, and one on the PATH of the job', async () => {
    const { jid } = await run('#!./tool\n');
    expect((await sandboxOf(alice, jid))['std.out']).toBe('tool ./run.sh\n');
    const ExecutionEnvironment = { PATH: '/nowhere:.' };
    const other = await run('#!/usr/bin/env tool\n', { ExecutionEnvironment });
    expect((await sandboxOf(alice, other.jid))['std.out']).toBe('tool ./run.sh\n');
  });

  it('that ends with 127 itself has run', async () => {
    for (const content of ['#!/bin/sh\nexit 127\n', '#!/bin/sh\nnone\n', '\u{feff}#!/bin/sh\n']) {
      const { end } = await run(content);
      expect(end).toEqual(['Failed', 'Application Finished With Errors', 'Exited with code 127']);
    }
  });
});
