import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  complaintsOf,
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const EVIL = '<img src=x onerror="top.hit=1">\u202e\u0007';
const FAILS = { Executable: '/bin/sh', Arguments: ['-c', 'exit 3'], JobName: EVIL };
const WAITS = { Executable: '/bin/echo', JobName: 'waits', Tags: ['moon'] };
const SLEEPS = { Executable: '/bin/sleep', Arguments: '300', JobName: 'sleeps' };
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 };

describeWith({ met: has('chromium'), name: 'Chromium' })('mission control', () => {
  let grid: Grid;
  let browser: Browser;
  let context: BrowserContext;
  let alice: GridClient;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    context = await profile(browser, grid, { name: 'alice' });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const inPage = async (work: (page: Page) => Promise<void>): Promise<void> => {
    const page = await context.newPage();
    await work(page).finally(() => page.close());
  };
  const submitted = async (manifest: object, status: string): Promise<number> => {
    const { body } = await alice.post('/jobs', { json: manifest });
    const jid = Number(body.jids[0]);
    await eventually(
      async () => (await alice.get(`/jobs/${jid}`)).body.status === status,
      `job ${jid} is ${status}`,
      60_000,
    );
    return jid;
  };
  const minorOf = async (jid: number): Promise<string> =>
    (await alice.get(`/jobs/${jid}`)).body.minorStatus;
  const choose = (page: Page, jid: number) =>
    page.getByRole('checkbox', { name: `Choose job ${jid}`, exact: true }).check();
  const confirm = (page: Page, verb: string) =>
    page.getByRole('dialog').getByRole('button', { name: verb, exact: true });

  it('chooses a time by drawing, and the address of it shows the same to somebody else', async () => {
    const [failed, waiting] = [await submitted(FAILS, 'Failed'), await submitted(WAITS, 'Waiting')];
    await inPage(async (page) => {
      const complaints = complaintsOf(page);
      await signInToPortal(page, grid, '#/jobs?window=10+minutes');
      await page.getByRole('link', { name: String(failed), exact: true }).waitFor();
      const chart = page.getByRole('img', { name: /Jobs in the last 10 minutes, now .*1 failed/ });
      await chart.waitFor();
      await page.getByRole('heading', { name: 'Over time' }).scrollIntoViewIfNeeded();
      // What is above it may still come, and move it away under the hand.
      await eventually(async () => {
        const { x, y, width, height } = (await chart.boundingBox()) ?? NOWHERE;
        await page.mouse.move(x + 0.1 * width, y + height / 2);
        await page.mouse.down();
        await page.mouse.move(x + 0.2 * width, y + height / 2);
        await page.mouse.up();
        return page.url().includes('from=');
      }, 'a time is chosen');
      await page.getByText('No job is like that.').waitFor();
      const asked = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
      const [from, to] = ['from', 'to'].map((name) => Date.parse(asked.get(name) ?? ''));
      expect(Number(to) - Number(from)).toBeGreaterThan(50_000);
      expect(Number(to) - Number(from)).toBeLessThan(70_000);
      expect(await page.getByLabel('Moved from').inputValue()).not.toBe('');
      const other = await context.newPage();
      await other.goto(page.url());
      await other.getByText('No job is like that.').waitFor();
      await other.getByRole('link', { name: 'Any time' }).click();
      await other.getByRole('link', { name: String(waiting), exact: true }).waitFor();
      await other.close();
      expect(await page.evaluate(`'hit' in window`)).toBe(false);
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });
  });

  it('holds, releases and kills what is chosen, and says what it could not do', async () => {
    const [one, other] = [await submitted(WAITS, 'Waiting'), await submitted(WAITS, 'Waiting')];
    const busy = await submitted(SLEEPS, 'Running');
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      for (const jid of [one, other, busy]) await choose(page, jid);
      await page.getByText('3 jobs are chosen').waitFor();
      await page.getByRole('button', { name: 'Hold 2' }).dblclick();
      await confirm(page, 'Hold').click();
      await page.getByText('Held: 2 jobs.').first().waitFor();
      expect(await minorOf(one)).toBe('Held by its owner');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Release 2' }).click();
      await confirm(page, 'Release').waitFor();
      await alice.delete(`/jobs/${other}`); // while the question is read
      await confirm(page, 'Release').click();
      await page.getByRole('alert').getByText('Refused: 1 job.').waitFor();
      await page
        .getByRole('alert')
        .getByText(new RegExp(`^Job ${other}: `))
        .waitFor();
      await page.getByText('Released: 1 job.').first().waitFor();
      expect(await minorOf(one)).not.toBe('Held by its owner');
      // What another filter does not show is chosen no longer.
      await page.getByRole('button', { name: /^\d+ Running$/ }).click();
      await page.getByRole('heading', { name: 'Jobs: Running' }).waitFor();
      expect(await page.getByRole('region', { name: 'Chosen jobs' }).isVisible()).toBe(false);
      await choose(page, busy);
      await page.getByRole('button', { name: 'Kill 1' }).click();
      await confirm(page, 'Cancel').click();
      expect((await alice.get(`/jobs/${busy}`)).body.status).toBe('Running');
      await page.getByRole('button', { name: 'Kill 1' }).click();
      await confirm(page, 'Kill').click();
      await page.getByText('Killed: 1 job.').first().waitFor();
      expect((await alice.get(`/jobs/${busy}`)).body.status).toBe('Killed');
    });
  });

  it('does nothing with a part of those that are being chosen', async () => {
    const jid = await submitted(WAITS, 'Waiting');
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      await choose(page, jid);
      let goOn: () => void = () => undefined;
      const isHeld = new Promise<void>((resolve) => (goOn = resolve));
      await page.route(/maxJobs=1000/, async (route) => {
        await isHeld;
        await route.continue();
      });
      await page.getByRole('button', { name: /^Choose all \d+$/ }).click();
      await page.getByText('1 job is chosen, more are on their way …').waitFor();
      expect(await page.getByRole('button', { name: /^Kill/ }).isDisabled()).toBe(true);
      goOn();
      await page.getByText(/^\d+ jobs are chosen$/).waitFor();
      expect(await page.getByRole('button', { name: /^Kill/ }).isDisabled()).toBe(false);
      await page.getByRole('button', { name: 'Choose none' }).click();
    });
  });

  it('shows jobs first, and charts to who opens them, from then on', async () => {
    await submitted(FAILS, 'Failed');
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      for (const size of [{ width: 1280, height: 800 }, PHONE]) {
        await page.setViewportSize(size);
        await page.reload();
        const row = page.getByRole('checkbox', { name: /^Choose job/ }).first();
        await row.waitFor();
        const { y, height } = (await row.boundingBox()) ?? NOWHERE;
        expect(y + height).toBeLessThan(size.height);
        await expectAccessible(page);
      }
      const title = page.getByRole('heading', { name: 'Over time' });
      expect(await title.isVisible()).toBe(false);
      await page.getByText('Charts: over time and by site').click();
      await title.waitFor();
      await page.reload();
      await title.waitFor();
      await page.getByRole('img', { name: /^Jobs in the last hour/ }).waitFor();
      await expectAccessible(page);
    });
  });

  it('groups failures by cause and retries those of one', async () => {
    const jid = await submitted(FAILS, 'Failed');
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      const causes = page.getByRole('region', { name: 'Causes of failures' });
      await causes.getByRole('button', { name: /Choose those with Application Finished/ }).click();
      await page.getByRole('button', { name: /^Retry \d+$/ }).click();
      await confirm(page, 'Retry').click();
      await page
        .getByText(/Sent back to the queue: \d+ jobs?\./)
        .first()
        .waitFor();
      expect((await alice.get(`/jobs/${jid}`)).body.reschedules).toBe(1);
    });
  });

  it('compares two jobs, and walks the table with arrows', async () => {
    const [a, b] = [await submitted(FAILS, 'Failed'), await submitted(WAITS, 'Waiting')];
    await inPage(async (page) => {
      await signInToPortal(page, grid);
      await choose(page, a);
      await page.keyboard.press('ArrowUp');
      const focused = await page.evaluate('document.activeElement.id');
      expect(focused).toBe(`choose-${b}`);
      await page.keyboard.press('Space');
      await page.getByRole('link', { name: 'Compare' }).click();
      await page
        .getByRole('heading', { name: `Job ${b} and job ${a}` })
        .or(page.getByRole('heading', { name: `Job ${a} and job ${b}` }))
        .waitFor();
      const asked = page.getByRole('region', { name: 'What was asked for otherwise' });
      expect(await asked.innerText()).toContain('["-c","exit 3"]');
      await expectAccessible(page);
      await page.goto(`${grid.url}/portal/#/compare?a=1&b=nothing`);
      await page.getByRole('alert').getByText('Choose two jobs in the list').waitFor();
    });
  });

  it('says what is wrong with a filter and keeps everything else', async () => {
    await inPage(async (page) => {
      await signInToPortal(page, grid, '#/jobs?status=Nonsense&name=waits');
      await page.getByRole('alert').first().waitFor();
      await page.getByRole('link', { name: 'Without State Nonsense' }).click();
      await page.getByRole('cell', { name: 'waits' }).first().waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(page.url()).toBe(`${grid.url}/portal/#/jobs?name=waits`);
    });
  });
});
