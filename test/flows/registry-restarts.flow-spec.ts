import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { CommandUser, type Ended } from '../support/command.js';
import { seed } from '../support/counts.js';
import { Dice } from '../support/faults/dice.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const RESTARTS = 10;
const REFUSED = /A file rules the registry \(GRID_REGISTRY_SYNC\)/;
type Change = [method: string, path: string, json?: object];

/** What is done once by route and once by command, for which only the names differ. */
const BY_ROUTE: Change[] = [
  [
    'POST',
    'users',
    { name: 'rita', certificates: [{ subject: '/CN=Rita' }], groups: ['grid_user'] },
  ],
  ['PATCH', 'users/bob', { fullName: 'Bob B' }],
  ['POST', 'users/carol/disable'],
  ['DELETE', 'users/fred'],
  ['POST', 'groups', { name: 'by_route', properties: ['NormalUser'], members: ['rita'] }],
  ['PATCH', 'groups/grid_mon', { idpRole: 'monitor' }],
  ['DELETE', 'groups/grid_share/members/alice'],
  ['POST', 'applications', { name: 'By route', id: 'by-route' }],
  ['POST', 'sites', { name: 'SITE.route', backend: 'slurm', slots: 2 }],
  ['PATCH', 'sites/LOCAL.demo', { slots: 3 }],
];
const BY_COMMAND = [
  'user add cora -c /CN=Cora -g grid_user',
  'user change alice --full-name Alice-A',
  'user disable mona',
  'user remove gone',
  'group add by_command -p NormalUser -m cora',
  'group change grid_fc -p NormalUser',
  'group add-member grid_share carol',
  'client add --name By-command --id by-command',
  'site add SITE.command --backend slurm --slots 2',
  'site change LOCAL.spare --slots 3',
  'site remove SITE.gone',
];

describe(`users, groups, applications and sites, of two instances with a registry file (seed ${seed})`, () => {
  let home: string;
  let env: Record<string, string>;
  let instances: Grid[];
  let command: CommandUser;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'grid-registry-'));
    command = new CommandUser(home);
    const file = join(home, 'registry.yaml');
    const { users, sites } = DEMO_REGISTRY;
    const registry = {
      ...DEMO_REGISTRY,
      users: [...users, { name: 'gone', certificates: [], subjects: [] }],
      sites: [...sites, { name: 'SITE.gone', backend: 'slurm', options: {} } as const],
    };
    await writeFile(file, writeRegistryFile(registry));
    env = { GRID_DEMO: 'false', GRID_REGISTRY: file };
    const seeded = await startGrid({ env });
    await seeded.sql(
      'truncate registry_user, registry_group, registry_application, registry_site cascade',
    );
    await seeded.stop();
    const first = await seeded.again();
    instances = [first, await first.second(env)];
  });
  afterAll(async () => {
    for (const grid of instances.reverse()) await grid.remove();
    await rm(home, { recursive: true, force: true });
  });

  const adam = async (grid: Grid): Promise<GridClient> =>
    grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'admin'));
  const run = (grid: Grid, words: string): Promise<Ended> =>
    command.run(words.split(' '), {
      ...env,
      GRID_HOME: grid.home,
      DATABASE_URL: grid.database.url,
    });
  const change = (client: GridClient, [method, path, json]: Change) =>
    client.call(method, `/admin/${path}`, json ? { json } : {});

  /** All that administrators see. */
  async function seen(grid: Grid): Promise<object> {
    const client = await adam(grid);
    const paths = ['users', 'groups', 'applications', 'sites'];
    const bodies = await Promise.all(
      paths.map(async (path) => (await client.get(`/admin/${path}`)).body as object),
    );
    return Object.assign({}, ...bodies) as object;
  }

  it(`are as they were changed after ${RESTARTS} restarts in any order`, async () => {
    const [first, second] = instances as [Grid, Grid];
    const client = await adam(first);
    for (const one of BY_ROUTE) {
      const { status, body } = await change(client, one);
      expect({ one, isDone: status < 300, body }).toMatchObject({ one, isDone: true });
    }
    for (const words of BY_COMMAND) {
      expect({ words, ...(await run(second, words)) }).toMatchObject({
        words,
        code: 0,
        stderr: '',
      });
    }
    const wanted = await seen(first);
    expect(wanted).toMatchObject({
      users: expect.arrayContaining([
        expect.objectContaining({ name: 'rita', groups: ['grid_user', 'by_route'] }),
        expect.objectContaining({ name: 'cora', groups: ['grid_user', 'by_command'] }),
        expect.objectContaining({ name: 'carol', disabled: true }),
        expect.objectContaining({ name: 'mona', disabled: true }),
      ]),
    });
    const dice = new Dice(seed);
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const which = dice.between(0, 1);
      await instances[which]!.stop();
      instances[which] = await instances[which]!.again();
      for (const grid of instances) {
        expect({ restart, which, ...(await seen(grid)) }).toEqual({ restart, which, ...wanted });
      }
    }
  });

  it('are refused to everybody with the reason where the file rules', async () => {
    for (const [which, grid] of instances.entries()) {
      await grid.stop();
      instances[which] = await grid.again({ GRID_REGISTRY_SYNC: 'true' });
    }
    const ruled = await seen(instances[0]!);
    expect(await seen(instances[1]!)).toEqual(ruled);
    for (const grid of instances) {
      const client = await adam(grid);
      for (const one of BY_ROUTE) {
        const { status, body } = await change(client, one);
        expect({ one, status, ...body }).toMatchObject({
          ...{ one, status: 409, code: 'registry.file-rules' },
          detail: expect.stringMatching(REFUSED),
        });
      }
    }
    for (const words of BY_COMMAND) {
      expect({ words, ...(await run(instances[1]!, words)) }).toMatchObject({
        ...{ words, code: 2, stdout: '' },
        stderr: expect.stringMatching(REFUSED),
      });
    }
    expect(await seen(instances[0]!)).toEqual(ruled);
  });
});
