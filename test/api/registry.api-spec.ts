import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { EncodingError } from '#src/kernel/index.js';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { dump, load } from '../support/registry-loads.js';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

/** Runs `gridgate registry …` beside the server; `input` is what the command reads from standard input. */
function registryCommand(grid: Grid, ...words: string[]): Promise<{ code: number; text: string }> {
  const child = spawn(
    process.execPath,
    [join(support().root, 'dist/src/cli/main.js'), 'registry', ...words],
    {
      env: { ...process.env, GRID_HOME: grid.home, DATABASE_URL: grid.database.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, text }));
  });
}

describe('the registry', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  it('is effective at once after a change by hand: user, group, setup and application', async () => {
    const token = await grid.token('bob', 'grid_share');
    const status = async () => (await grid.bearer(token).get('/jobs')).status;
    expect(await status()).toBe(200);
    await grid.sql("update registry_setup set groups = '{grid_user}' where name = 'Prod'");
    await eventually(async () => (await status()) === 401, 'setup closed');
    await grid.sql("update registry_setup set groups = null where name = 'Prod'");
    await eventually(async () => (await status()) === 200, 'setup open');
    await grid.sql("delete from registry_user where name = 'bob'");
    await eventually(async () => (await status()) === 401, 'user gone');
  });

  it('knows a certificate by any spelling of its DN', async () => {
    await grid.sql(
      "update registry_certificate set dn = '/DC=org/DC=grid/CN=carol2' where dn like '%carol'",
    );
    const carol = await grid.certificate('carol');
    await eventually(async () => (await carol.get('/oauth2/groups')).status === 401, 'unknown');
    await grid.sql(
      "update registry_certificate set dn = '/DC=org/DC=grid/CN=carol' where dn like '%carol2'",
    );
    await eventually(async () => (await carol.get('/oauth2/groups')).status === 200, 'known');
  });

  it('finds who was added before the notification has come: application and certificate', async () => {
    const changed = (more: string) =>
      grid.sql(`create or replace function registry_changed() returns trigger language plpgsql as $$
        begin update registry_state set version = version + 1; ${more} return null; end $$`);
    const query = {
      response_type: 'code',
      client_id: 'late',
      redirect_uri: 'https://late.example/',
    };
    const ask = async () => (await grid.anonymous.get('/oauth2/auth', { query })).status;
    const stranger = await grid.certificate('stranger');
    expect([await ask(), (await stranger.get('/oauth2/groups')).status]).toEqual([400, 401]);
    await changed('');
    await grid.sql(`insert into registry_application (id, position, name, redirect_uris, confidential, origin)
      values ('late', 99, 'Late', '{https://late.example/}', false, 'command')`);
    expect(await ask()).toBe(200);
    await grid.sql(`insert into registry_certificate (dn, user_name, position)
      values ('/DC=org/DC=grid/CN=stranger', 'carol', 9)`);
    expect((await stranger.get('/oauth2/groups')).body).toEqual({ groups: ['grid_user'] });
    await changed("perform pg_notify('registry', '');");
    await grid.sql("delete from registry_certificate where dn like '%stranger'");
    await eventually(async () => (await stranger.get('/oauth2/groups')).status === 401, 'gone');
  });

  it('is loaded and dumped as one file, with the difference in words', async () => {
    const dumped = await registryCommand(grid, 'dump');
    expect([dumped.code, dumped.text.trim()]).toEqual([0, (await dump(grid)).trim()]);
    expect(await load(grid, dumped.text)).toBe('no difference');
    const file = join(grid.home, 'registry.yaml');

    const token = await grid.token('alice', 'grid_share');
    await writeFile(file, dumped.text.replace(/(grid_share:[\s\S]*?members:\n)\s+- alice\n/, '$1'));
    const changed = await registryCommand(grid, 'load', file);
    expect([changed.code, changed.text.trim()]).toEqual([0, '~ groups.grid_share: members -alice']);
    await eventually(
      async () => (await grid.bearer(token).get('/jobs')).status === 401,
      'alice has left the group',
    );

    const after = await dump(grid);
    await writeFile(file, 'groups:\n  grid_user:\n    members: [zoe]\n    colour: red\n');
    const broken = await registryCommand(grid, 'load', file);
    expect(broken.code).toBe(2);
    expect(broken.text).toContain('line 4: groups.grid_user.colour: is not known here');
    await writeFile(file, `# of\n# Orléans\n${after}`, 'latin1');
    for (const verb of ['load', 'check']) {
      expect(await registryCommand(grid, verb, file)).toEqual({
        code: 2,
        text: `gridgate: ${file}: ${new EncodingError(2).message}\n`,
      });
    }
    await writeFile(file, `\ufeff${after}`);
    expect(await registryCommand(grid, 'load', file)).toEqual({ code: 0, text: 'no difference\n' });
    expect(await dump(grid)).toBe(after);
  });

  /** The service hears a moment later of what the command has loaded. */
  const tokenOfMona = (): Promise<string> =>
    eventually(() => grid.token('mona', 'grid_mon').catch(() => undefined), 'a token of mona');
  /** In a token that mona is given now. */
  const subjectNow = async (): Promise<unknown> => decodeJwt(await tokenOfMona()).sub;

  it('keeps the subject of a user for life, and never gives it to another', async () => {
    const subjectOf = async (name: string): Promise<string> =>
      new RegExp(`^  ${name}:\n    sub: (\\S+)$`, 'm').exec(await dump(grid))?.[1] ?? 'none';
    const before = await dump(grid);
    const sub = await subjectOf('mona');
    expect(decodeJwt(await grid.token('mona', 'grid_mon')).sub).toBe(sub);

    const unsaid = before.replaceAll(/^ {4}sub: .*\n/gm, '');
    expect(await load(grid, unsaid)).toBe('no difference');
    expect(await subjectOf('mona')).toBe(sub);

    const token = await grid.token('mona', 'grid_mon');
    expect(await load(grid, before.replace(sub, 'set-by-hand'))).toBe(
      `~ users.mona: sub ${sub} -> set-by-hand`,
    );
    await eventually(async () => (await subjectNow()) === 'set-by-hand', 'the new subject');
    await eventually(
      async () => (await grid.bearer(token).get('/jobs')).status === 401,
      'the token of the subject that she had',
    );
    const taken = 'was the subject of mona and is never given to another';
    for (const old of [sub, 'set-by-hand']) {
      const others = before.replace(sub, 'new').replace(/(alice:\n {4}sub: ).*/, `$1${old}`);
      expect(await load(grid, others)).toContain(`users.alice.sub: ${taken}`);
    }
    expect(await load(grid, before)).toBe(`~ users.mona: sub set-by-hand -> ${sub}`);
    expect(await subjectOf('mona')).toBe(sub);
  });

  it('keeps who is disabled, whatever files leave them out or call them otherwise', async () => {
    const before = await dump(grid);
    const without = (text: string): string =>
      text
        .replace(/^ {2}mona:\n(?: {4}.*\n)+/m, '')
        .replace(/members:\n {6}- mona\n/, 'members: []\n');
    const disabled = before.replace(/^ {2}mona:\n/m, '$&    disabled: true\n');
    expect(await load(grid, disabled)).toBe('~ users.mona: disabled');
    expect(await load(grid, without(before))).toContain('~ groups.grid_mon: members -mona');
    expect(await dump(grid)).toMatch(/^ {2}mona:\n(?: {4}.*\n)+? {4}disabled: true\n/m);
    const unsaid = before.replaceAll(/^ {4}sub: .*\n/gm, '');
    const other = unsaid.replace('  mona:\n', '  dora:\n').replace('- mona\n', '- dora\n');
    expect(await load(grid, other)).toContain(
      'users.dora.certificates[0]: belongs to mona already, who is disabled and stays: enable mona first, or give mona no certificates and `disabled: true` here',
    );
    expect(await load(grid, before)).toContain('~ groups.grid_mon: members +mona');
    const file = before.replace(/^ {2}mona:\n/m, '$&    disabled: false\n');
    expect(await load(grid, file)).toBe('~ users.mona: enabled');
    expect(await load(grid, before)).toBe('no difference');
  });

  it('gives who comes back a subject of their own, unless the file says which', async () => {
    const before = await dump(grid);
    const sub = /^ {2}mona:\n {4}sub: (\S+)$/m.exec(before)?.[1] ?? 'none';
    const gone = before
      .replace(/^ {2}mona:\n(?: {4}.*\n)+/m, '')
      .replace(/^ {6}- mona\n/m, '')
      .replace(/members:\n(?! {6})/, 'members: []\n');
    expect(await load(grid, gone)).toContain('- users.mona');
    expect(await load(grid, before.replace(`    sub: ${sub}\n`, ''))).toContain('+ users.mona');
    await eventually(async () => (await subjectNow()) !== sub, 'a subject of her own');
    await load(grid, before);
    await eventually(async () => (await subjectNow()) === sub, 'the subject of the file');
  });

  it('keeps what a site declares of itself, and the shares of groups', async () => {
    const site = [
      'shares:',
      '  grid_user: 3',
      'sites:',
      '  LOCAL.demo:',
      '    backend: local-process',
      '    slots: 2',
      '    processors: 8',
      '    ramMB: 16000',
      '    gpus: 0',
      '    tags:',
      '      - el9',
      '    maxWallTime: 86400',
      '    network: host',
      '',
    ].join('\n');
    await load(grid, site);
    const text = await dump(grid);
    expect(text.slice(text.indexOf('shares:'))).toBe(site);
    expect(await load(grid, site)).toBe('no difference');
    const changed = site.replace('processors: 8', 'processors: 4').replace('user: 3', 'user: 2');
    expect((await load(grid, changed)).split('\n')).toEqual([
      '~ sites.LOCAL.demo: processors 8 -> 4',
      '~ shares.grid_user: weight 3 -> 2',
    ]);
    const dumped = await dump(grid);
    const sections = dumped.slice(0, dumped.indexOf('setups:'));
    const limited = sections.replace(
      '  grid_user:\n',
      '  grid_user:\n    limits: { running: 5 }\n',
    );
    expect(await load(grid, limited)).toBe('~ groups.grid_user: limits (none) -> {"running":5}');
    expect(await dump(grid)).toContain('    limits:\n      running: 5\n');
    expect(await load(grid, sections)).toBe('~ groups.grid_user: limits {"running":5} -> (none)');
    expect(await load(grid, 'sites: {S: {backend: slurm, limits: {tags: {GPU: 1}}}}')).toContain(
      'sites.S.limits.tags.GPU: the site has no tag GPU',
    );
    // The file says nothing of shares: that of the group goes with it.
    const file = join(grid.home, 'groups.yaml');
    await writeFile(file, 'groups: {}\nsetups: {}\napplications: {}');
    const gone = await registryCommand(grid, 'check', file);
    expect([gone.code, gone.text]).toEqual([0, expect.stringContaining('- shares.grid_user')]);
    expect(await load(grid, 'shares: {grid_user: 3, nobody: 1}')).toContain(
      'shares.nobody: there is no group nobody',
    );
  });
});

describe('the file of GRID_REGISTRY', () => {
  let grid: Grid;
  const changes = ['~ users.carol: disabled'];
  const remembered = {
    ...{ status: 409, code: 'registry.file-rules' },
    detail:
      'A file rules the registry (GRID_REGISTRY_SYNC): change the file and load it with `gridgate registry load` (`disabled: false` there enables a user); a start with GRID_REGISTRY_SYNC=false ends that',
  };
  let path: string;
  beforeAll(async () => {
    grid = await startGrid();
    path = join(grid.home, 'registry.yaml');
    await writeFile(path, writeRegistryFile(DEMO_REGISTRY));
  });

  afterAll(() => grid?.remove());

  const asAdam = async (server: Grid): Promise<GridClient> =>
    server.bearer(await server.token('adam', 'grid_adm', 'Prod', 'admin'));

  const said = (server: Grid, words: string): Promise<boolean> =>
    eventually(() => Promise.resolve(server.server.log().includes(words)), words);

  it('is loaded into an empty registry only: what was changed since then stays over restarts', async () => {
    const first = await startGrid({ env: { GRID_DEMO: 'false', GRID_REGISTRY: path } });
    try {
      await first.sql('truncate registry_user, registry_group, registry_application cascade');
      await first.stop();
      await (await first.again()).stop();
      const seeded = await first.again();
      const client = await asAdam(seeded);
      expect((await client.post('/admin/users/carol/disable')).body).toEqual({ changes });
      await client.delete('/admin/groups/grid_share/members/bob');
      await client.delete('/admin/applications/demo-portal');
      const { body: added } = await client.post('/admin/applications', { json: { name: 'Kept' } });
      await seeded.stop();
      const again = await first.again();
      await said(again, 'the registry is not what its file says');
      await said(again, 'groups.grid_share: members +bob');
      const back = await asAdam(again);
      expect((await back.get('/admin/users/carol')).body.disabled).toBe(true);
      expect((await back.get('/admin/users/bob')).body.groups).toEqual(['grid_user']);
      expect((await back.get('/admin/applications/demo-portal')).status).toBe(404);
      expect((await back.get(`/admin/applications/${added.id}`)).status).toBe(200);
      await again.stop();
    } finally {
      await first.remove();
    }
  });

  it('that is broken or gone stops no start that does not load it', async () => {
    for (const [file, words] of [
      [join(grid.home, 'nowhere.yaml'), 'cannot be read (ENOENT)'],
      [join(grid.home, 'pki', 'ca.crt'), 'registry is not what its file says'],
    ] as const) {
      const other = await grid.second({ GRID_REGISTRY: file });
      await said(other, words);
      await other.remove();
    }
  });

  it('that rules is loaded at each start, and changes are refused everywhere until it does not', async () => {
    const first = await startGrid({
      env: { GRID_DEMO: 'false', GRID_REGISTRY: path, GRID_REGISTRY_SYNC: 'true' },
    });
    const second = await first.second({ GRID_DEMO: 'false' });
    try {
      for (const server of [first, second]) {
        const client = await asAdam(server);
        const answers = [
          await client.post('/admin/users/carol/disable'),
          await client.post('/admin/users/carol/enable'),
          await client.put('/admin/groups/grid_mon/members/carol'),
          await client.post('/admin/users', { json: { name: 'new' } }),
          await client.patch('/admin/users/carol', { json: { fullName: 'C' } }),
          await client.delete('/admin/users/carol'),
          await client.post('/admin/groups', { json: { name: 'new' } }),
          await client.patch('/admin/groups/grid_mon', { json: { vo: null } }),
          await client.delete('/admin/groups/grid_mon'),
          await client.post('/admin/sites', { json: { name: 'new', backend: 'slurm' } }),
          await client.patch('/admin/sites/LOCAL.demo', { json: { slots: 1 } }),
          await client.delete('/admin/sites/LOCAL.demo'),
          await client.delete('/admin/groups/grid_user/members/carol'),
          await client.post('/admin/applications', { json: { name: 'New' } }),
          await client.delete('/admin/applications/demo-portal'),
        ];
        for (const { body } of answers) expect(body).toMatchObject(remembered);
      }
      const disabling = writeRegistryFile(DEMO_REGISTRY).replace(
        '  carol:\n',
        '$&    disabled: true\n',
      );
      await writeFile(path, disabling);
      await first.stop();
      const broken = await first
        .again({ GRID_REGISTRY: join(grid.home, 'nowhere.yaml') })
        .catch(String);
      expect(broken).toContain('nowhere.yaml cannot be read (ENOENT)');
      const latin1 = join(grid.home, 'latin1.yaml');
      await writeFile(latin1, 'users:\n  carol: { certificates: [/CN=Carolé] }\n', 'latin1');
      expect(await first.again({ GRID_REGISTRY: latin1 }).catch(String)).toContain(
        `GRID_REGISTRY=${latin1}: ${new EncodingError(2).message}`,
      );
      const again = await first.again();
      const client = await asAdam(again);
      expect((await client.get('/admin/users/carol')).body.disabled).toBe(true);
      await again.stop();
      await writeFile(path, disabling.replace('    disabled: true\n', ''));
      const silent = await first.again();
      const kept = await asAdam(silent);
      expect((await kept.get('/admin/users/carol')).body.disabled).toBe(true);
      await silent.stop();
      await writeFile(path, disabling.replace('disabled: true', 'disabled: false'));
      const enabling = await first.again();
      const enabled = await asAdam(enabling);
      expect((await enabled.get('/admin/users/carol')).body.disabled).toBe(false);
      await enabling.stop();
      await writeFile(path, disabling);
      await (await first.again()).stop();
      const free = await second.second({ GRID_DEMO: 'false', GRID_REGISTRY_SYNC: 'false' });
      const back = await asAdam(second);
      expect((await back.post('/admin/users/carol/enable')).body).toEqual({
        changes: ['~ users.carol: enabled'],
      });
      await free.remove();
    } finally {
      await second.remove();
      await first.remove();
      await writeFile(path, writeRegistryFile(DEMO_REGISTRY));
    }
  });
});
