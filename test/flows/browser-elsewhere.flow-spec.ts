import { spawn, type ChildProcess } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { freePorts } from '../support/ports.mjs';
import { complaintsOf, expectAccessible, profile, startBrowser } from '../support/browser.js';
import { startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, support, type Grid } from '../support/testbed.js';

/** Starts examples/portal/serve.mjs and waits for its line. */
async function servePortal(gridUrl: string, port: number): Promise<ChildProcess> {
  const { root } = support();
  const child = spawn(process.execPath, [join(root, 'examples/portal/serve.mjs')], {
    env: { PATH: process.env['PATH'], GRID_URL: gridUrl, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the portal's server ended with ${code}`)));
  });
  return child;
}

describeWith({ met: has('chromium'), name: 'Chromium' })('the portal and its neighbours', () => {
  let browser: Browser;
  let pki: TestPki;
  let provider: TestIdProvider;
  let grid: Grid;
  let portal: ChildProcess;
  let origin: string;
  const file = join(tmpdir(), `gridgate-browser-providers-${process.pid}.yaml`);

  beforeAll(async () => {
    const [port = 0, portalPort = 0] = await freePorts(2);
    const url = `https://localhost:${port}`;
    origin = `http://localhost:${portalPort}`;
    pki = await createTestPki();
    provider = await startIdProvider(pki, { redirectUris: [`${url}/oauth2/callback/Institute`] });
    const institute = {
      issuer: provider.issuer,
      title: 'My institute',
      verify: pki.ca.certPath,
      trust_env: false,
      client_id: 'conf',
      client_secret: 'secret of conf: 100% & more',
      scope: 'openid profile',
    };
    await writeFile(file, JSON.stringify({ Institute: institute }));
    grid = await startGrid({
      env: {
        GRID_PORT: String(port),
        GRID_PUBLIC_URL: url,
        GRID_ID_PROVIDERS: file,
        GRID_CORS_ORIGINS: origin,
      },
    });
    await grid.sql(
      `insert into registry_subject values ('${provider.issuer}', 'jane', 'alice', 0)`,
    );
    portal = await servePortal(url, portalPort);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    if (portal) {
      const ended = new Promise((resolve) => portal.once('exit', resolve));
      portal.kill('SIGTERM');
      await ended;
    }
    await grid?.remove();
    await provider?.stop();
    await pki?.remove();
    await rm(file, { force: true });
  });

  it('works from an origin of its own, as the registered application demo-portal', async () => {
    const context = await profile(browser, grid, { name: 'alice' });
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${origin}/#/catalogue`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(new URL(page.url()).searchParams.get('client_id')).toBe('demo-portal');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('link', { name: 'vo/' }).waitFor();
    expect(page.url()).toBe(`${origin}/#/catalogue`);
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByRole('button', { name: 'Hello' }).click();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.locator('.now').getByText('Done').waitFor();
    await page.getByRole('button', { name: 'View std.out' }).click();
    const output = page.getByRole('region', { name: 'Content of std.out' });
    expect(await output.innerText()).toBe('Hello, grid\n');
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]); // peeked too late
    await context.close();
  });

  it('lets somebody without certificate sign in through her institute', async () => {
    const context = await profile(browser, grid);
    const page = await context.newPage();
    await page.goto(`${grid.url}/portal/`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'My institute' }).click();
    await page.locator('input[name=login]').fill('jane');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click(); // signs in
    await page.waitForURL((url) => url.pathname.includes('interaction'));
    await page.getByRole('button', { name: 'Continue' }).click(); // her consent at the institute
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    expect(await page.locator('#who').innerText()).toMatch(/alice\s+grid_user, Prod/);
    await context.close();
  });
});
