import { readFile } from 'node:fs/promises';
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
import { awaitFinal, submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describeWith({ met: has('chromium'), name: 'Chromium' })('the page of usage', () => {
  let grid: Grid;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    page = await (await profile(browser, grid, { name: 'alice' })).newPage();
    await signInToPortal(page, grid);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  it('says that there is nothing yet', async () => {
    const complaints = complaintsOf(page);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Nothing was used lately, and nobody waits.').waitFor();
    await page.getByText('None.', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('shows shares and what runs have used, as a table to save, for the time of the address', async () => {
    const alice = await grid.as('alice');
    const jids = await submit(alice, [{ Executable: '/bin/true' }, { Executable: '/bin/false' }]);
    await awaitFinal(alice, jids);
    await grid.sql(
      `insert into job_shares (owner_group, owner, used, held, running, as_of)
        values ('grid_user', 'alice', 3000, 0, 0, now()), ('grid_share', 'bob', 1000, 0, 0, now())
        on conflict (owner_group, owner) do update set used = excluded.used`,
    );
    const complaints = complaintsOf(page);
    const share = page.getByRole('list', { name: 'Share of grid_user' });
    await eventually(async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Usage' }).waitFor();
      // What was stored beside the service is known to it a second later.
      return (await share.allInnerTexts()).join().includes('used 75 %, due 50 %');
    }, 'the shares');
    const month = new Date().toISOString().slice(0, 7);
    const row = page.getByRole('row', { name: new RegExp(`^${month} grid_user 2 1 `) });
    await row.waitFor();
    await page.getByLabel('Divided by').selectOption('Month, group and owner');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('row', { name: new RegExp(`^${month} grid_user alice 2 1 `) }).waitFor();
    expect(page.url()).toContain('#/usage?by=month%2Cgroup%2Cowner');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.split('\r\n')[1]).toMatch(new RegExp(`^${month},grid_user,alice,2,1,`));
    await page.getByLabel('Divided by').selectOption('Month and job group');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('row', { name: new RegExp(`^${month} 00000000 2 1 `) }).waitFor();
    const today = await page.getByLabel('To', { exact: true }).inputValue();
    expect(await page.getByLabel('From').inputValue()).toBe(`${month}-01`);
    await page.getByLabel('From').fill(today);
    await page.getByLabel('Divided by').selectOption('Day and job group');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('row', { name: new RegExp(`^${today} 00000000 2 1 `) }).waitFor();
    expect(page.url()).toContain(`&from=${today}&to=${today}`);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('says what is wrong with an address', async () => {
    await page.goto(`${grid.url}/portal/#/usage?from=yesterday`);
    await page.getByRole('alert').getByText('is neither a month').first().waitFor();
  });
});
