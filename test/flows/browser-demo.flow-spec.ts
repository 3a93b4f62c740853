import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { complaintsOf, expectAccessible, profile, startBrowser } from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, type Grid } from '../support/testbed.js';

const KEY = 'k'.repeat(32);
const SHOWN = `document.querySelector('.pictures img')`;
const MOST_CLICKS = 6;
const DEADLINE_MS = 60_000;

describeWith({ met: has('chromium'), name: 'Chromium' })('a newcomer without certificate', () => {
  let grid: Grid;
  let browser: Browser;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([
      startGrid({ env: { GRID_DEMO_SIGN_IN: KEY } }),
      startBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  it('gets from the link of the demo to a picture made by a job of their own in six clicks', async () => {
    const page = await (await profile(browser, grid)).newPage();
    const complaints = complaintsOf(page);
    let clicks = 0;
    const click = async (name: string | RegExp, role: 'button' | 'link' = 'button') => {
      clicks += 1;
      await page.getByRole(role, { name }).first().click();
    };
    await page.goto(`${grid.url}/portal/demo/${KEY}`);
    await click('Sign in');
    await page.getByRole('button', { name: 'Continue as Alice' }).waitFor();
    await expectAccessible(page);
    await click('Continue as Alice');
    await click('Allow');
    await click('New job', 'link');
    await click('Draw a picture');
    await click('Submit');
    const picture = page.getByRole('img', { name: 'Picture spiral.svg' });
    await picture.waitFor({ timeout: DEADLINE_MS });
    await page.waitForFunction(`(${SHOWN})?.naturalWidth > 0`);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    expect(await picture.getAttribute('src')).toMatch(/^data:image\/svg\+xml;base64,/);
    await expectAccessible(page);
    // A look at the output of a job that ends at that moment is answered with 409.
    expect(complaints.filter((text) => !text.includes('409 (Conflict)'))).toEqual([]);
  });

  it('sees the pictures of a hostile job without anything in them being run or loaded', async () => {
    const alice = await grid.as('alice');
    const evil = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="top.hit=1"><script>top.hit=1</script><image href="${grid.url}/hit.png"/></svg>`;
    const { body } = await alice.post('/jobs', {
      json: {
        ...{ Executable: '/bin/sh', OutputSandbox: ['*.svg', '*.png'] },
        Arguments: [
          '-c',
          'printf %s "$1" > a.svg; printf "<script>top.hit=1</script>" > b.png',
          'x',
          evil,
        ],
      },
    });
    const page = await (await profile(browser, grid)).newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${grid.url}/portal/demo/${KEY}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Continue as Alice' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto(`${grid.url}/portal/#/jobs/${body.jids[0]}`);
    await page.getByRole('img', { name: 'Picture a.svg' }).waitFor({ timeout: 30_000 });
    await page.waitForFunction(`(${SHOWN})?.complete`);
    expect(await page.evaluate(`'hit' in window`)).toBe(false);
    expect(asked.filter((url) => url.includes('hit.png'))).toEqual([]);
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
  });
});
