import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { describeWith, has } from '../support/missing.js';
import { OpenidApache } from '../support/openid-apache.js';
import { claimsOf } from '../support/openid.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { freePort } from '../support/ports.mjs';
import { eventually, GridClient, startGrid, type Grid } from '../support/testbed.js';

const SECRET = 'a-secret-of-forty-letters-and-more-0123456789';
const CLASS = 'urn:oasis:names:tc:SAML:2.0:ac:classes:TLSClient';
const apacheModule = '/usr/lib/apache2/modules/mod_auth_openidc.so';

const addClient = (grid: Grid, id: string, uris: string, after: string): Promise<unknown> =>
  grid.sql(
    `insert into registry_application
      (id, position, name, redirect_uris, post_logout_redirect_uris, confidential, secret_hash, origin)
     values ($1, 9, $1, $2, $3, true, $4, 'command')`,
    [id, uris, after, createHash('sha256').update(SECRET).digest('base64url')],
  );

/** Path and query of an address. */
function pathOf(address: unknown): string {
  const { pathname, search } = new URL(String(address));
  return `${pathname}${search}`;
}

const withApache = describeWith({
  met: has('apache2') && existsSync(apacheModule),
  name: 'apache2-bin, libapache2-mod-auth-openidc',
});

withApache('a page behind mod_auth_openidc', () => {
  let grid: Grid;
  let apache: OpenidApache;
  let agent: Agent;
  beforeAll(async () => {
    grid = await startGrid();
    const port = await freePort();
    const url = `http://localhost:${port}`;
    await addClient(grid, 'page', `{${url}/private/callback}`, `{${url}/index.html}`);
    const ca = join(grid.home, 'pki', 'ca.crt');
    const page = { port, issuer: grid.url, ca, clientId: 'page', clientSecret: SECRET };
    apache = await OpenidApache.start(page);
    agent = new Agent();
  });
  afterAll(async () => {
    await agent?.close();
    await apache?.remove();
    await grid?.remove();
  });

  const reader = (): PageVisitor => new PageVisitor(new GridClient(apache.url, agent, undefined));

  /** Opens the page in a browser that has alice's certificate. */
  async function signIn(): Promise<{ site: PageVisitor; grids: PageVisitor }> {
    const site = reader();
    const grids = new PageVisitor(await grid.certificate('alice'));
    const sent = await site.open('/private/index.html');
    expect(sent.status).toBe(302);
    const question = await grids.open(pathOf(sent.headers['location']));
    expect(question.body).toContain('page asks for access');
    const back = await grids.send(formOf(question.body), { decision: 'allow' });
    const returned = await site.open(pathOf(back.headers['location']));
    expect([returned.status, await apache.log()]).toEqual([
      302,
      expect.not.stringContaining('error]'),
    ]);
    return { site, grids };
  }

  it('is shown to those who have signed in, by name and address', async () => {
    const { site } = await signIn();
    const page = await site.open('/private/index.html');
    expect([page.status, page.body]).toEqual([200, 'what only members see']);
    expect(page.headers).toMatchObject({
      'x-user': 'alice',
      'x-mail': 'alice@example.org',
      'x-class': CLASS,
    });
  });

  it('is shown to nobody who was refused', async () => {
    const site = reader();
    const sent = await site.open('/private/index.html');
    const grids = new PageVisitor(await grid.certificate('alice'));
    const question = await grids.open(pathOf(sent.headers['location']));
    const back = await grids.send(formOf(question.body), { decision: 'deny' });
    const returned = await site.open(pathOf(back.headers['location']));
    expect(returned.body).not.toContain('what only members see');
    expect((await site.open('/private/index.html')).status).toBe(302);
  });

  it('signs out here as well', async () => {
    const { site, grids } = await signIn();
    const own = grids.cookie('__Host-gridgate');
    const after = encodeURIComponent(`${apache.url}/index.html`);
    const leaving = await site.open(`/private/callback?logout=${after}`);
    const place = String(leaving.headers['location']);
    expect(place.startsWith(`${grid.url}/oauth2/logout?`)).toBe(true);
    const left = await grids.open(pathOf(place));
    expect([left.status, left.headers['location']]).toEqual([302, `${apache.url}/index.html`]);
    expect(grids.cookie('__Host-gridgate')).not.toBe(own);
    expect((await site.open('/private/index.html')).status).toBe(302);
  });
});

const withAgent = describeWith({
  met: has('oidc-agent') && has('oidc-gen'),
  name: 'oidc-agent-cli',
});

withAgent('oidc-agent', () => {
  let grid: Grid;
  let home: string;
  let pid = 0;
  let env: Record<string, string>;
  beforeAll(async () => {
    grid = await startGrid();
    await addClient(grid, 'agent', '{http://localhost:4242}', '{}');
    home = await mkdtemp(join(tmpdir(), 'grid-agent-'));
    await chmod(home, 0o700);
    await copyFile(join(grid.home, 'pki', 'ca.crt'), join(home, 'ca.crt'));
    await writeFile(join(home, 'password'), 'a password\n', { mode: 0o600 });
    env = { PATH: process.env['PATH'] ?? '', HOME: home, OIDC_CONFIG_DIR: home, TMPDIR: home };
    // it goes into the background by itself, and says how to reach it
    const started = spawnSync('oidc-agent', ['--no-webserver'], { env, encoding: 'utf8' });
    env['OIDC_SOCK'] = /OIDC_SOCK=([^;]+);/.exec(started.stdout)?.[1] ?? '';
    pid = Number(/OIDCD_PID=(\d+);/.exec(started.stdout)?.[1]);
    expect(pid).toBeGreaterThan(0);
  });
  afterAll(async () => {
    if (pid > 0) process.kill(pid);
    await grid?.remove();
    await rm(home, { recursive: true, force: true });
  });

  it('is set up by our discovery document and the device flow, and renews by itself', async () => {
    const args = [
      'demo',
      '--flow=device',
      `--issuer=${grid.url}/`,
      '--client-id=agent',
      `--client-secret=${SECRET}`,
      '--scope=openid profile offline_access jobs:read',
      `--cert-path=${join(home, 'ca.crt')}`,
      '--redirect-uri=http://localhost:4242',
      `--pw-file=${join(home, 'password')}`,
      '--confirm-default',
      '--prompt=none',
    ];
    const setUp = spawn('oidc-gen', args, { env, stdio: 'pipe' });
    let said = '';
    for (const stream of [setUp.stdout, setUp.stderr]) {
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    }
    const ended = new Promise<number | null>((resolve) => setUp.once('exit', resolve));
    const code = await eventually(
      () =>
        Promise.resolve(/[B-Z]{4}-[B-Z]{4}/.exec(said)?.[0] ?? (setUp.exitCode !== null && said)),
      'oidc-gen to show a code',
    );
    expect(code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    const browser = new PageVisitor(await grid.certificate('alice'));
    const page = await browser.open(`/oauth2/device?user_code=${code}`);
    await browser.send(formOf(page.body), { decision: 'allow' });
    expect([await ended, said]).toEqual([
      0,
      expect.stringContaining('Everything setup correctly!'),
    ]);
    const token = (): string => {
      const found = spawnSync('oidc-token', ['--force-new', 'demo'], { env, encoding: 'utf8' });
      expect([found.status, found.stderr]).toEqual([0, '']);
      return found.stdout.trim();
    };
    const [first, second] = [token(), token()];
    expect(second).not.toBe(first);
    expect(claimsOf(second)).toMatchObject({ client_id: 'agent', group: 'grid_user' });
    const user = await grid.bearer(second).get('/oauth2/userinfo');
    expect([user.status, user.body.preferred_username]).toEqual([200, 'alice']);
    expect((await grid.bearer(second).get('/jobs')).status).toBe(200);
  });
});
