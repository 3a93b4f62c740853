import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { profile, signInToPortal, startBrowser } from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describeWith({ met: has('chromium'), name: 'Chromium' })('people at the portal', () => {
  let grid: Grid;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    context = await profile(browser, grid, { name: 'alice' });
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const inPage = async (work: (page: Page) => Promise<void>, own = context): Promise<void> => {
    const page = await own.newPage();
    await work(page).finally(() => page.close());
  };
  const namesOfJobs = async (name: string): Promise<number> => {
    const rows = await grid.sql<{ n: number }>(
      'select count(*)::integer as n from jobs where name = $1',
      [name],
    );
    return rows[0]?.n ?? 0;
  };
  const submit = (page: Page) => page.getByRole('button', { name: 'Submit', exact: true });

  describe('who are impatient', () => {
    it('submit one job however often they press', async () => {
      await inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Name').fill('pressed');
        await page.getByLabel('Program').fill('/bin/true');
        let posts = 0;
        page.on('request', (request) => (posts += request.method() === 'POST' ? 1 : 0));
        await submit(page).dblclick();
        await submit(page)
          .click({ timeout: 500 })
          .catch(() => undefined);
        await page.getByRole('heading', { name: /^Job \d+ pressed$/ }).waitFor();
        expect(posts).toBe(1);
        expect(await namesOfJobs('pressed')).toBe(1);
      });
    });

    it('get the same job when the answer to the first try was lost, and another one after a change', async () => {
      await inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Name').fill('lost');
        await page.getByLabel('Program').fill('/bin/true');
        let isLost = true;
        const keys: (string | undefined)[] = [];
        await page.route(/\/jobs$/, async (route) => {
          keys.push(route.request().headers()['idempotency-key']);
          const answer = await route.fetch();
          if (isLost) await route.abort('connectionreset');
          else await route.fulfill({ response: answer });
          isLost = false;
        });
        await submit(page).click();
        await page.getByRole('alert').waitFor();
        await submit(page).click();
        await page.getByRole('heading', { name: /^Job \d+ lost$/ }).waitFor();
        expect(await namesOfJobs('lost')).toBe(1);
        await page.getByRole('link', { name: 'New job' }).click();
        await page.getByLabel('Name').fill('lost');
        await page.getByLabel('Program').fill('/bin/true');
        await submit(page).click();
        await page.getByRole('heading', { name: /^Job \d+ lost$/ }).waitFor();
        expect(await namesOfJobs('lost')).toBe(2);
        expect(new Set(keys).size).toBe(2);
      });
    });

    it('find what they have written again, say so for files that a reload has lost, and can start afresh', async () => {
      await inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Name').fill('half');
        await page.getByLabel('Arguments').fill(`"<b>" 'é \u{1F600}'`);
        const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') };
        await page.getByLabel('Input files').setInputFiles([file]);
        await page.getByRole('link', { name: 'Catalogue' }).click();
        await page.getByRole('heading', { name: 'File catalogue' }).waitFor();
        await page.getByRole('link', { name: 'New job' }).click();
        await page.getByRole('button', { name: 'Remove a.txt' }).waitFor();
        expect(await page.getByLabel('Name').inputValue()).toBe('half');
        await page.reload();
        await page.getByRole('status').getByText('Choose again').waitFor();
        expect(await page.getByRole('status').first().innerText()).toMatch(/a\.txt$/);
        expect(await page.getByLabel('Arguments').inputValue()).toBe(`"<b>" 'é \u{1F600}'`);
        await page.getByRole('button', { name: 'Start afresh' }).click();
        expect(await page.getByLabel('Name').inputValue()).toBe('');
        await page.reload();
        await page.getByRole('heading', { name: 'New job' }).waitFor();
        expect(await page.getByLabel('Name').inputValue()).toBe('');
      });
    });
  });

  describe('with several tabs', () => {
    it('are signed in in each, renew a token once, and sign out of all', async () => {
      const first = await context.newPage();
      const second = await context.newPage();
      try {
        await signInToPortal(first, grid);
        await second.goto(`${grid.url}/portal/#/jobs`);
        await second.getByRole('heading', { name: 'Jobs' }).waitFor();
        const old = `(() => {
          const tokens = JSON.parse(sessionStorage.getItem('portal.tokens'));
          sessionStorage.setItem('portal.tokens', JSON.stringify({ ...tokens, expiresAt: 0 }));
        })()`;
        await Promise.all([first.evaluate(old), second.evaluate(old)]);
        const catalogue = { name: 'Catalogue' };
        await Promise.all([first, second].map((page) => page.getByRole('link', catalogue).click()));
        const read = 'sessionStorage.getItem("portal.tokens")';
        for (const page of [first, second]) {
          await page.getByRole('heading', { name: 'File catalogue' }).waitFor();
        }
        await eventually(
          async () => (await first.evaluate(read)) === (await second.evaluate(read)),
          'both tabs to have the same token',
        );
        await first.getByRole('button', { name: 'Sign out' }).click();
        await second.getByRole('button', { name: 'Sign in' }).waitFor();
        expect(await second.evaluate(read)).toBeNull();
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
    });

    it('are asked who they are after signing out, and not before', async () => {
      await inPage(async (page) => {
        await signInToPortal(page, grid);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Use another account' }).waitFor();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
      });
      await inPage(async (page) => {
        await page.goto(`${grid.url}/portal/#/jobs`);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
        await page.getByRole('link', { name: 'Access' }).waitFor();
      });
    });
  });

  it('who may only look are offered nothing to submit', async () => {
    const own = await profile(browser, grid, { name: 'mona' });
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      expect(await page.getByRole('link', { name: 'New job' }).count()).toBe(0);
      await page.goto(`${grid.url}/portal/#/submit`);
      await page.getByRole('alert').getByText('Your group may look at jobs').waitFor();
    }, own).finally(() => own.close());
  });

  it('who mistype an address get a page, programs a problem', async () => {
    await inPage(async (page) => {
      const answer = await page.goto(`${grid.url}/nope`);
      expect(answer?.status()).toBe(404);
      await page.getByRole('heading', { name: 'No such page' }).waitFor();
      await page.getByRole('link', { name: 'Go to the start page' }).click();
      await page.waitForURL(`${grid.url}/portal/`);
    });
    const { status, headers, body } = await grid.anonymous.get<{ code: string }>('/nope');
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'route.not-found' });
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json', vary: 'Accept' });
  });
});
