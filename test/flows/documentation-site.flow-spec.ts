import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf, expectAccessible, PHONE, startBrowser } from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { support } from '../support/testbed.js';

const run = promisify(execFile);
const BUILD = 240_000;
const TOO_WIDE = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
/** One page of each kind, of the shorter ones; all pages have one frame. */
const PAGES = [
  'index.html',
  'portal.html',
  'tutorial-scientist.html',
  'job-states.html',
  'errors.html',
  'reference/api/health.html',
  'reference/typescript/client/interfaces/Application.html',
  'reference/python/index.html',
  'design/clients.html',
];

describeWith({ met: has('chromium'), name: 'Chromium' })('the site of documentation', () => {
  let folder: string;
  let version: string;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let url: string;
  const asked: string[] = [];

  beforeAll(async () => {
    const { root } = support();
    folder = await mkdtemp(join(tmpdir(), 'grid-site-'));
    await mkdir(join(folder, '0.1.0'));
    const own = await readFile(join(root, 'package.json'), 'utf8');
    version = (JSON.parse(own) as { version: string }).version;
    await run(process.execPath, ['scripts/docs-site.mjs', folder], { cwd: root });
    server = createServer(express().use(express.static(folder)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
    page = await (await browser.newContext()).newPage();
    page.on('request', (request) => asked.push(request.url()));
  }, BUILD);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('begins at the newest version, names the others, and goes to them', async () => {
    await page.goto(url);
    await page.waitForURL(`${url}/${version}/index.html`);
    const select = page.getByLabel('Version');
    await page.waitForFunction(`document.querySelectorAll('#version option').length === 2`);
    expect(await select.locator('option').allTextContents()).toEqual([version, '0.1.0']);
    await page.goto(`${url}/${version}/how-to/deploy.html`);
    await page.waitForFunction(`document.querySelectorAll('#version option').length === 2`);
    await select.selectOption('0.1.0');
    await page.waitForURL(`${url}/0.1.0/index.html`);
  });

  it.each([
    ['GRID_MAX_BODY', 'configuration.html', 'Configuration'],
    ['words that no page', 'Nothing has “words that no page zebra”', ''],
    ['submit sweep', 'command-reference.html#gridgate-submit', 'gridgate submit'],
    ['POST jobs manifest', 'reference/api/', 'HTTP interface'],
    ['AsyncClient', 'reference/python/index.html#asyncclient', 'Python'],
    ['GridClient listJobs', 'reference/typescript/client/', 'GridClient'],
    ['idempotncy', 'reference/api/', 'HTTP interface'],
  ])('finds %s', async (words, place, shown) => {
    await page.goto(`${url}/${version}/how-to/deploy.html`);
    await page.keyboard.press('/');
    const isNothing = shown === '';
    await page.keyboard.type(isNothing ? `${words} zebra` : words);
    const status = page.locator('.found [role=status]');
    if (isNothing) return expect(await textOf(page, status, 'Nothing')).toBe(place);
    await textOf(page, status, 'found');
    const places = await page
      .locator('.found a')
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));
    const found = places.find((each) => each.includes(`/${version}/${place}`));
    expect(found).toBeDefined();
    await page.goto(found ?? '');
    expect(await page.locator('main').textContent()).toContain(shown);
  });

  it('opens the best that was found by Enter', async () => {
    await page.goto(`${url}/${version}/index.html`);
    await page.keyboard.press('/');
    await page.keyboard.type('back up and restore');
    await textOf(page, page.locator('.found [role=status]'), 'found');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/${version}/how-to/backup-and-restore.html**`);
  });

  it.each(PAGES)('shows %s to everybody, in both themes and on a phone', async (name) => {
    const complaints = complaintsOf(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}/${version}/${name}`);
      await expectAccessible(page);
    }
    await page.setViewportSize(PHONE);
    await page.goto(`${url}/${version}/${name}`);
    expect(await page.evaluate(TOO_WIDE)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(complaints).toEqual([]);
  });

  it('asks no other server for anything', () => {
    expect(asked.length).toBeGreaterThan(PAGES.length);
    expect(asked.filter((each) => !each.startsWith(url))).toEqual([]);
  });

  it('has the pictures and the document of the interface', () => {
    for (const name of ['openapi.json', 'pictures/job.png', 'pictures/failure.png']) {
      expect(existsSync(join(folder, version, name))).toBe(true);
    }
  });
});

/** The text of an element as soon as it has a word. */
async function textOf(
  page: Page,
  place: ReturnType<Page['locator']>,
  word: string,
): Promise<string> {
  await place.filter({ hasText: word }).waitFor({ state: 'visible' });
  return (await place.textContent()) ?? '';
}
