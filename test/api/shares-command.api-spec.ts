import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGrid, support, type Grid } from '../support/testbed.js';

describe('gridgate shares', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
    await grid.sql(
      `insert into registry_share (group_name, position, weight) values ('grid_user', 1, 3)`,
    );
    await grid.sql(
      `insert into job_shares (owner_group, owner, used, held, running, as_of)
        values ('grid_user', 'alice', 300000, 0, 0, now()), ('grid_user', 'bob', 100000, 0, 0, now()),
          ('grid_share', 'bob', 400000, 0, 0, now())`,
    );
  });
  afterAll(() => grid?.remove());

  const shares = (words: string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      execFile(
        process.execPath,
        [join(support().root, 'dist/src/cli/main.js'), 'shares', ...words],
        { env: { ...process.env, GRID_HOME: grid.home, DATABASE_URL: grid.database.url, ...env } },
        (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr }),
      );
    });
  const number = expect.any(Number);

  it('tells used and due of groups and owners', async () => {
    const { text } = await shares(['--json']);
    const owner = (name: string, used: number, due: number) => ({
      ...{ owner: name, used, due, seconds: number, held: 0, isWaiting: false },
    });
    const rest = { seconds: number, held: 0, isWaiting: false };
    expect(JSON.parse(text)).toEqual({
      groups: [
        {
          ...{ group: 'grid_share', weight: 1, used: 0.5, due: 0.25, ...rest },
          owners: [owner('bob', 1, 1)],
        },
        {
          ...{ group: 'grid_user', weight: 3, used: 0.5, due: 0.75, ...rest },
          owners: [owner('alice', 0.75, 0.5), owner('bob', 0.25, 0.5)],
        },
      ],
    });
    const page = await shares(['--group', 'grid_share']);
    expect(page.text.split('\n')[1]).toMatch(/^grid_share +1 +50\.0 % +25\.0 % +\d+ +0 +no/);
    expect(await shares(['show', 'grid_share', '-o', 'name'])).toEqual({
      code: 0,
      text: 'grid_share\n',
    });
    expect(await shares(['list', '-o', 'name'])).toEqual({
      code: 0,
      text: 'grid_share\ngrid_user\n',
    });
  });

  it('says that places are not shared', async () => {
    const answer = await shares([], { GRID_SHARES: 'false' });
    expect([answer.code, answer.text]).toEqual([
      2,
      expect.stringContaining('places are not shared (GRID_SHARES=false)'),
    ]);
  });
});
