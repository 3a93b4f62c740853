import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page, Route } from 'playwright-core';
import { FormData } from 'undici';
import { expectAccessible, profile, signInToPortal, startBrowser } from '../support/browser.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const FAILING = {
  ...{ JobName: 'fit', Executable: '/bin/sh' },
  Arguments: ['-c', 'seq 100 >&2; echo "<b>no data</b>" >&2; exit 3'],
};

describeWith({ met: has('chromium'), name: 'Chromium' })('a failed job in the portal', () => {
  let grid: Grid;
  let browser: Browser;
  let page: Page;
  let alice: GridClient;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    alice = await grid.as('alice');
    page = await (await profile(browser, grid, { name: 'alice' })).newPage();
    await signInToPortal(page, grid);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const open = (place: string) => page.goto(`${grid.url}/portal/#/${place}`);
  const failed = async (): Promise<number> => {
    const [jid = 0] = await submit(alice, [FAILING]);
    await awaitFinal(alice, [jid]);
    return jid;
  };
  const reschedules = async (jid: number): Promise<number> =>
    (await alice.get(`/jobs/${jid}`)).body.reschedules;

  it('says why, its last words, and what was different when it went well', async () => {
    const [good = 0] = await submit(alice, [{ ...FAILING, Arguments: ['-c', 'exit 0'] }]);
    await awaitFinal(alice, [good]);
    await open(`jobs/${await failed()}`);
    const card = page.locator('.failure');
    await card.getByRole('heading', { name: 'Application Finished With Errors' }).waitFor();
    await card.getByRole('heading', { name: `job ${good}` }).waitFor();
    const text = await card.innerText();
    expect(text).toContain('Exit code 3');
    expect(text).toContain('99\n100\n<b>no data</b>');
    expect(text).not.toContain('\n86\n');
    expect(await card.getByRole('rowheader').allInnerTexts()).toEqual(['Arguments']);
    await expectAccessible(page);
  });

  it('is retried once, however often one presses', async () => {
    const jid = await failed();
    await open(`jobs/${jid}`);
    await page.getByRole('button', { name: 'Retry', exact: true }).dblclick();
    await eventually(async () => (await reschedules(jid)) > 0, 'the retry');
    await awaitFinal(alice, [jid]);
    await page.locator('.failure').waitFor();
    expect(await reschedules(jid)).toBe(1);
  });

  it('is the one whose Retry is pressed, also while its page is still on the way', async () => {
    const [other, jid] = [await failed(), await failed()];
    await open(`jobs/${other}`);
    await page.getByRole('heading', { name: `Job ${other}` }).waitFor();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const retry = page.getByRole('button', { name: 'Retry', exact: true });
    await retry.scrollIntoViewIfNeeded();
    const place = await retry.boundingBox();
    if (!place) throw new Error('there is no Retry to press');
    const held: Route[] = [];
    await page.route(`${grid.url}/jobs/${jid}`, (route) => void held.push(route));
    await open(`jobs/${jid}`);
    await eventually(() => Promise.resolve(held.length > 0), 'the page to ask for the job');
    await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2);
    await page.unroute(`${grid.url}/jobs/${jid}`);
    await retry.click();
    await eventually(async () => (await reschedules(jid)) > 0, 'the retry');
    expect(await reschedules(other)).toBe(0);
  });

  it('is edited and submitted again, with its files and what the form has no field for', async () => {
    const form = new FormData();
    const manifest = {
      ...{ JobName: 'from file', Executable: 'run.sh', Arguments: '3 "two words"', Priority: 7 },
      ...{ InputSandbox: ['run.sh'], OutputSandbox: ['std.out', 'std.err', 'left.txt'] },
    };
    form.append('manifest', JSON.stringify(manifest));
    const script = '#!/bin/sh\necho "$2" > left.txt\nexit "$1"\n';
    form.append('file', new Blob([script]), 'run.sh');
    const { body } = await alice.post('/jobs', { multipart: form });
    await awaitFinal(alice, body.jids);
    await open(`jobs/${body.jids[0]}`);
    await page.getByRole('link', { name: 'Edit and resubmit' }).click();
    const words = page.getByLabel('Arguments');
    await words.waitFor();
    expect(await words.inputValue()).toBe('3 "two words"');
    expect(await page.getByLabel('Files to bring back').inputValue()).toBe('left.txt');
    await words.fill('0 "two words"');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/#\/jobs\/\d+$/);
    const jid = Number(page.url().split('/').at(-1));
    expect(jid).toBeGreaterThan(body.jids[0]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({ status: 'Done', priority: 7, name: 'from file' });
    const { bytes } = await alice.get(`/jobs/${jid}/outputsandbox/files/left.txt`);
    expect(String(bytes)).toBe('two words\n');
  });

  it('is retried together with all that failed for the same cause', async () => {
    const jids = [await failed(), await failed()];
    await open(`jobs/${jids[1]}`);
    await page.getByRole('button', { name: 'Retry all with this cause' }).click();
    await page.getByRole('button', { name: 'Retry all', exact: true }).click();
    await eventually(
      async () => (await Promise.all(jids.map(reschedules))).every((count) => count === 1),
      'both to be retried',
    );
  });
});
