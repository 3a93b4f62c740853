import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  complaintsOf,
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, type Grid } from '../support/testbed.js';

/** Address of each page, and a heading by which it is known. */
const PAGES: [string, RegExp][] = [
  ['#/jobs', /^Jobs$/],
  ['#/jobs/1', /^Job 1/],
  ['#/compare?a=1&b=2', /^Job 1 and job 2$/],
  ['#/arrays/1', /^Array 1/],
  ['#/submit', /^New job$/],
  ['#/catalogue?at=/vo', /^File catalogue$/],
  ['#/catalogue?at=/vo/a&file=/vo/a/run1/f1', /^File catalogue$/],
  ['#/run?at=/vo/a', /^Run on \d+ files$/],
  ['#/usage', /^Usage$/],
  ['#/webhooks', /^Webhooks$/],
];

/** The best of so many: what else the machine does meanwhile is not the page's. */
/** Bytes that a page has loaded by its first paint, as they came, compressed. */
const LOAD = `new Promise((resolve) => {
  const seen = (list) => {
    const [painted] = list.getEntriesByName('first-contentful-paint');
    if (!painted) return;
    const loaded = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
    const bytes = loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    resolve(bytes);
  };
  new PerformanceObserver(seen).observe({ type: 'paint', buffered: true });
})`;

describeWith({ met: has('chromium'), name: 'Chromium' })('every page of the portal', () => {
  let grid: Grid;
  let browser: Browser;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    const alice = await grid.as('alice');
    const json = { Executable: '/bin/echo', Arguments: '%s', Parameters: ['1', '2'] };
    await alice.post('/jobs?array=true', { json });
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  it.each([
    ['light', undefined],
    ['dark', undefined],
    ['dark', PHONE],
  ] as const)(
    'has no fault of WCAG 2.2 AA, %s, %o, and asks nobody else',
    async (colorScheme, viewport) => {
      const context = await profile(browser, grid, {
        ...{ name: 'alice', colorScheme },
        ...(viewport && { viewport }),
      });
      const page = await context.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).origin));
      const complaints = complaintsOf(page);
      await signInToPortal(page, grid);
      for (const [hash, heading] of PAGES) {
        await page.goto(`${grid.url}/portal/${hash}`);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await expectAccessible(page);
      }
      expect(new Set(asked.filter((origin) => origin !== 'null'))).toEqual(new Set([grid.url]));
      expect(complaints).toEqual([]);
      await context.close();
    },
    400_000,
  );

  it('weighs at most 250 kB', async () => {
    const context = await profile(browser, grid, { name: 'alice' });
    await signInToPortal(await context.newPage(), grid);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.goto(`${grid.url}/portal/#/jobs`);
    await page.getByRole('heading', { level: 1, name: /^Jobs$/ }).waitFor();
    const bytes = await page.evaluate<number>(LOAD);
    await context.close();
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(250_000);
  });

  it('is reached by the palette with the keyboard alone', async () => {
    const context = await profile(browser, grid, { name: 'alice' });
    const page: Page = await context.newPage();
    await signInToPortal(page, grid);
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to' });
    await field.waitFor();
    await expectAccessible(page);
    await page.keyboard.type('web');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('job 1');
    await page.getByRole('option', { name: 'Job 1', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Job 1/, level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing like that');
    expect(await page.getByRole('option').count()).toBe(0);
    await page.keyboard.press('Enter');
    expect(page.url()).toBe(`${grid.url}/portal/#/jobs/1`);
    await context.close();
  });
});
