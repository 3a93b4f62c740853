import { dump, load } from '../support/registry-loads.js';
import { isOfEarlier } from '../support/time-of-tokens.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describe('a membership that has ended', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid?.remove());

  /** The service hears a moment later of what has been loaded. */
  const tokenOfMona = (): Promise<string> =>
    eventually(() => grid.token('mona', 'grid_mon').catch(() => undefined), 'a token of mona');

  it('or a certificate that is lost, ends the tokens from before for good', async () => {
    const before = await dump(grid);
    const dn = '/DC=org/DC=grid/CN=mona';
    const changes = [
      before.replace(/members:\n {6}- mona\n/, 'members: []\n'),
      before.replace(dn, `${dn}2`),
    ];
    for (const changed of changes) {
      const token = await tokenOfMona();
      const status = async (): Promise<number> => (await grid.bearer(token).get('/jobs')).status;
      expect(await status()).toBe(200);
      await isOfEarlier(token);
      await load(grid, changed);
      await load(grid, before);
      await eventually(async () => (await status()) === 401, 'the end of the token');
      expect((await (await grid.as('alice')).get('/jobs')).status).toBe(200);
      await eventually(
        async () => (await grid.bearer(await tokenOfMona()).get('/jobs')).status === 200,
        'a token of afterwards',
      );
    }
  });

  it('is noted by the clock of who changes the registry, as tokens have their time', async () => {
    const before = await dump(grid);
    const now = Date.now() - 3_600_000;
    const changed = before.replace(/members:\n {6}- mona\n/, 'members: []\n');
    const token = await tokenOfMona();
    await load(grid, changed, { now: () => now });
    await load(grid, before);
    expect(
      await grid.sql(
        `select group_name, extract(epoch from left_at) * 1000 as ms from registry_departure
          where user_name = 'mona' and group_name = 'grid_mon'`,
      ),
    ).toEqual([{ group_name: 'grid_mon', ms: expect.stringMatching(`^${now}`) }]);
    await eventually(
      async () => (await grid.bearer(token).get('/jobs')).status === 200,
      'a token of later by that clock',
    );
  });
});
