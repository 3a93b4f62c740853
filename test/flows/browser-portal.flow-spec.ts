import { gunzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import {
  complaintsOf,
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { awaitFinal, submit as submitted } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const SCRIPT = Buffer.from('#!/bin/sh\ntr a-z A-Z < "$1" > loud.txt\necho "read $1"\n');
const TEXT = Buffer.from('quiet words\n');

describeWith({ met: has('chromium'), name: 'Chromium' })('the portal in Chromium', () => {
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

  /** Somebody who has not been here. */
  const asBob = async (work: (page: Page) => Promise<void>): Promise<void> => {
    const own = await profile(browser, grid, { name: 'bob' });
    await inPage(work, own).finally(() => own.close());
  };

  describe('sign-in', () => {
    it('goes through consent and back to the place that was asked for', () =>
      inPage(async (page) => {
        const complaints = complaintsOf(page);
        await page.goto(`${grid.url}/portal/#/submit`);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Allow' }).waitFor();
        const asked = new URL(page.url()).searchParams;
        expect(Object.fromEntries(asked)).toMatchObject({
          response_type: 'code',
          client_id: 'portal',
          redirect_uri: `${grid.url}/portal/`,
          code_challenge_method: 'S256',
        });
        await page.getByRole('radio', { name: /grid_share/ }).check();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('heading', { name: 'New job' }).waitFor();
        expect(page.url()).toBe(`${grid.url}/portal/#/submit`);
        expect(await page.locator('#who').innerText()).toMatch(/alice\s+grid_share, Prod/);
        expect(complaints).toEqual([]);
      }));

    it('says so when the user denies, and keeps nothing', () =>
      asBob(async (page) => {
        await page.goto(`${grid.url}/portal/`);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByRole('alert').getByText('You have not allowed the portal').waitFor();
        expect(page.url()).toBe(`${grid.url}/portal/`);
        expect(await page.evaluate('sessionStorage.length')).toBe(0);
        await expectAccessible(page);
      }));

    it('refuses an answer that belongs to another sign-in', () =>
      inPage(async (page) => {
        await page.goto(`${grid.url}/portal/?code=stolen&state=foreign`);
        await page.getByRole('alert').getByText('belongs to another sign-in').waitFor();
        expect(await page.evaluate('sessionStorage.length')).toBe(0);
      }));

    it('outlives a reload and ends, here and at the service, by signing out', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid);
        await page.reload();
        await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
        const kept = await page.evaluate<string>('sessionStorage.getItem("portal.tokens")');
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        const { access } = JSON.parse(kept) as { access: string };
        expect((await grid.bearer(access).get('/jobs')).status).toBe(401);
      }));

    it('renews a dead token without asking anybody', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid);
        await page.evaluate(`(() => {
          const tokens = JSON.parse(sessionStorage.getItem('portal.tokens'));
          sessionStorage.setItem('portal.tokens', JSON.stringify({ ...tokens, access: 'dead' }));
        })()`);
        await page.getByRole('link', { name: 'Catalogue' }).click();
        await page.getByRole('heading', { name: 'File catalogue' }).waitFor();
      }));

    it('says that a session has ended, and not where the service only cannot be asked', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid);
        await page.route('**/oauth2/token', (route) => route.abort());
        await page.evaluate(`(() => {
          const tokens = JSON.parse(sessionStorage.getItem('portal.tokens'));
          const old = { ...tokens, refresh: 'dead', expiresAt: 0 };
          sessionStorage.setItem('portal.tokens', JSON.stringify(old));
        })()`);
        await page.getByRole('link', { name: 'Catalogue' }).click();
        await page.getByRole('heading', { name: 'File catalogue' }).waitFor();
        await page.getByRole('alert').first().waitFor();
        expect(await page.locator('#who').innerText()).toContain('alice');
        await page.unroute('**/oauth2/token');
        await page.getByRole('link', { name: 'Usage' }).click();
        await page.getByRole('alert').getByText('Your session has ended. Sign in again').waitFor();
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { name: 'Usage' }).waitFor();
      }));
  });

  describe('jobs', () => {
    it('go from the form to Done, and their output to the disk', () =>
      inPage(async (page) => {
        const complaints = complaintsOf(page);
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Name').fill('loud');
        await page.getByLabel('Program').fill('loud.sh');
        await page.getByLabel('Arguments').fill('words.txt');
        await page.getByLabel('Files to bring back').fill('loud.txt');
        await page.getByLabel('Input files').setInputFiles([
          { name: 'loud.sh', mimeType: 'text/x-shellscript', buffer: SCRIPT },
          { name: 'words.txt', mimeType: 'text/plain', buffer: TEXT },
        ]);
        await page.getByRole('button', { name: 'Check only' }).click();
        await page.getByRole('status').getByText('This job would be accepted.').waitFor();
        await page.getByRole('button', { name: 'Submit', exact: true }).click();
        await page.getByRole('heading', { name: /^Job \d+ loud$/ }).waitFor();
        await page.locator('.now').getByText('Done').waitFor();
        await page.getByRole('button', { name: 'View loud.txt' }).click();
        const shown = page.getByRole('region', { name: 'Content of loud.txt' });
        expect(await shown.innerText()).toBe('QUIET WORDS\n');
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download all output files' }).click(),
        ]);
        expect(download.suggestedFilename()).toMatch(/^\d+-outputsandbox\.tar\.gz$/);
        const archive = gunzipSync(await readFile(await download.path()));
        expect(archive.includes('loud.txt')).toBe(true);
        expect(archive.includes('QUIET WORDS')).toBe(true);
        await expectAccessible(page);
        expect(complaints.filter((text) => !text.includes('409'))).toEqual([]); // peeked too late
      }));

    it('show what is wrong with a manifest, field by field', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Program').fill('/bin/echo');
        await page.getByLabel('Sites').fill('NO/where');
        await page.getByRole('button', { name: 'Submit', exact: true }).click();
        const box = page.getByRole('alert');
        await box.waitFor();
        expect(await box.innerText()).toBe('Not submitted. Please look at: Sites.');
        const sites = page.getByLabel('Sites');
        expect(await sites.getAttribute('aria-invalid')).toBe('true');
        expect(await sites.getAttribute('aria-describedby')).toBe('sites-hint sites-fault');
        expect(await page.locator('#sites-fault').innerText()).toMatch(/NO\/where/);
        expect(await page.locator('[aria-invalid]').count()).toBe(1);
        expect(await page.evaluate('document.activeElement.id')).toBe('sites');
        await expectAccessible(page);
        await sites.fill('');
        await page.getByRole('button', { name: 'Check only' }).click();
        const good = page.getByRole('status').getByText('This job would be accepted.');
        await good.waitFor();
        expect(await page.locator('[aria-invalid]').count()).toBe(0);
        const seen = await good.boundingBox();
        const height = page.viewportSize()?.height ?? 0;
        expect((seen?.y ?? -1) >= 0 && (seen?.y ?? height) + (seen?.height ?? 0) <= height).toBe(
          true,
        );
      }));

    it('move in the list by themselves, and can be killed', () =>
      inPage(async (page) => {
        const alice = await grid.as('alice');
        const manifest = { Executable: '/bin/sleep', Arguments: '300', JobName: 'long' };
        const feed = page.waitForResponse(/\/jobs\/events\?/);
        await signInToPortal(page, grid);
        expect((await feed).status()).toBe(200);
        const { body } = await alice.post<{ jids: number[] }>('/jobs', { json: manifest });
        const row = page.getByRole('row', {
          name: new RegExp(`\\b${body.jids[0]} long Running`),
        });
        await row.waitFor();
        await page.getByRole('button', { name: /^\d+ Running$/ }).waitFor();
        await row.getByRole('link', { name: String(body.jids[0]), exact: true }).click();
        await page.getByRole('button', { name: 'Kill' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('button', { name: 'Kill' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
        await page.locator('.now').getByText('Killed').waitFor();
        const { body: job } = await alice.get<{ status: string }>(`/jobs/${body.jids[0]}`);
        expect(job.status).toBe('Killed');
        await page.getByRole('link', { name: 'All jobs' }).click();
        await page.getByRole('button', { name: /Killed$/ }).click();
        await page.getByRole('heading', { name: 'Jobs: Killed' }).waitFor();
        await expectAccessible(page);
      }));

    it('of others that are not for this user are answered with words', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid, '#/jobs/999999');
        await page.getByRole('alert').waitFor();
        await expectAccessible(page);
      }));

    it('of others say what they are at, and not what they were submitted with', async () => {
      const alice = await grid.as('alice');
      const held = { Executable: '/bin/true', JobName: 'secret', Hold: true };
      const failing = { Executable: '/bin/false', JobName: 'secret' };
      const jids = await submitted(alice, [held, failing]);
      await awaitFinal(alice, jids.slice(1));
      await asBob(async (page) => {
        await signInToPortal(page, grid);
        for (const [at, words] of ['Held by its owner', 'Why it failed'].entries()) {
          await page.goto(`${grid.url}/portal/#/jobs/${jids[at]}`);
          await page.getByText(words).first().waitFor();
          await page.getByText('are not yours to read').waitFor();
          expect(await page.getByRole('heading', { name: 'Manifest' }).count()).toBe(0);
        }
        await expectAccessible(page);
      });
    });

    it('move below what could not be done, and take a fault away that is over', () =>
      inPage(async (page) => {
        const alice = await grid.as('alice');
        const json = {
          Executable: '/bin/true',
          JobName: '%s',
          Parameters: ['x', 'y', 'z'],
          Hold: true,
        };
        const { body } = await alice.post('/jobs?array=true', { json });
        const [one = 0, other = 0, last = 0] = body.jids as number[];
        await signInToPortal(page, grid);
        await page.route(/maxJobs=1000/, (route) => route.abort());
        await page.getByRole('button', { name: 'Save these jobs as CSV' }).click();
        const fault = page.getByRole('alert').getByText('The service cannot be reached');
        await fault.waitFor();
        await alice.post(`/jobs/${one}/release`);
        await page.getByRole('row', { name: new RegExp(`\\b${one} .* Done`) }).waitFor();
        expect(await fault.count()).toBe(1);
        await page.goto(`${grid.url}/portal/#/arrays/${body.arrayId}`);
        await page.getByRole('heading', { name: `Array ${body.arrayId}` }).waitFor();
        await page.route(`**/arrays/${body.arrayId}`, (route) => route.abort());
        await alice.post(`/jobs/${other}/release`);
        await fault.waitFor();
        await page.unroute(`**/arrays/${body.arrayId}`);
        await alice.post(`/jobs/${last}/release`);
        await fault.waitFor({ state: 'detached' });
      }));

    it('come whole after a fault of the network, and are released once however often one presses', () =>
      inPage(async (page) => {
        const alice = await grid.as('alice');
        const held = { Executable: '/bin/true', JobName: 'held', Hold: true };
        const [jid = 0] = await submitted(alice, [held]);
        await signInToPortal(page, grid, '#/usage');
        const job = `${grid.url}/jobs/${jid}`;
        const open = (place: string): Promise<unknown> => page.goto(`${grid.url}/portal/${place}`);
        const fault = page.getByRole('alert').getByText('The service cannot be reached');
        for (const part of [`${job}/history`, `${job}/explain*`]) {
          await page.route(part, (route) => route.abort());
          await open(`#/jobs/${jid}`);
          await fault.waitFor();
          await page.unroute(part);
          await page.getByRole('heading', { name: 'History' }).waitFor();
          await page.getByText('Held by its owner').last().waitFor();
          await fault.waitFor({ state: 'detached' });
          await open('#/usage');
          await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
        }
        await page.route(job, (route) => route.abort());
        await open(`#/jobs/${jid}`);
        await fault.waitFor();
        await page.unroute(job);
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByRole('button', { name: 'Release' }).dblclick();
        await page.locator('.now').getByText('Done').waitFor();
        await page.getByRole('link', { name: 'Edit and resubmit' }).waitFor();
        expect(await page.getByRole('alert').count()).toBe(0);
      }));
  });

  describe('without a mouse', () => {
    it('signs in, submits and reads the output', () =>
      inPage(async (page) => {
        const reach = async (name: string): Promise<void> => {
          for (let step = 0; step < 40; step += 1) {
            const focused = await page.evaluate(
              'document.activeElement.innerText || document.activeElement.id',
            );
            if (focused === name) return;
            await page.keyboard.press('Tab');
          }
          throw new Error(`${name} is not reached with Tab`);
        };
        await page.goto(`${grid.url}/portal/`);
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        await reach('Sign in');
        await page.keyboard.press('Enter');
        // alice has allowed the portal before
        await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
        await reach('New job');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'New job' }).waitFor();
        await reach('Hello');
        await page.keyboard.press('Enter');
        await reach('Submit');
        await page.keyboard.press('Enter');
        await page.locator('.now').getByText('Done').waitFor();
        await page.getByRole('button', { name: 'View std.out' }).waitFor();
        await reach('View');
        await page.keyboard.press('Enter');
        const shown = page.getByRole('region', { name: 'Content of std.out' });
        expect(await shown.innerText()).toBe('Hello, grid\n');
        const focused = await page.evaluate('document.activeElement.getAttribute("aria-label")');
        expect(focused).toBe('Content of std.out');
      }));
  });

  describe('the focus', () => {
    const focused = (page: Page): Promise<unknown> =>
      page.evaluate('document.activeElement.innerText || document.activeElement.id');
    /** Keeps the answers to such requests back until the function it gives is called. */
    const holdBack = async (page: Page, address: string): Promise<() => Promise<void>> => {
      const held: Route[] = [];
      await page.route(`${grid.url}${address}`, (route) => void held.push(route));
      return async () => {
        await eventually(() => Promise.resolve(held.length > 0), `a request for ${address}`);
        await page.unroute(`${grid.url}${address}`); // what was held back goes on
      };
    };

    it('is on a new page, unless somebody goes elsewhere while it loads', () =>
      inPage(async (page) => {
        const alice = await grid.as('alice');
        await submitted(alice, [{ Executable: '/bin/true', JobName: 'to look at' }]);
        await signInToPortal(page, grid, '#/usage');
        const toJobs = page
          .getByRole('navigation')
          .getByRole('link', { name: 'Jobs', exact: true });
        const jobs = page.getByRole('cell', { name: 'to look at' });
        await toJobs.click();
        await jobs.first().waitFor();
        await page.waitForFunction('document.activeElement.id === "main"');
        await page.getByRole('link', { name: 'Usage', exact: true }).click();
        await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
        const answer = await holdBack(page, '/jobs?*');
        await toJobs.click();
        await page.getByRole('checkbox', { name: 'Jobs of all owners' }).focus();
        await answer();
        await jobs.first().waitFor();
        expect(await focused(page)).toBe('everybody');
      }));

    it('stays in the bar when that is drawn anew', async () => {
      const own = await profile(browser, grid, { name: 'adam' });
      await inPage(async (page) => {
        const answer = await holdBack(page, '/admin/access');
        await signInToPortal(page, grid);
        const usage = page
          .getByRole('navigation')
          .getByRole('link', { name: 'Usage', exact: true });
        await usage.focus();
        await answer();
        await page.getByRole('link', { name: 'Administration' }).waitFor();
        expect(await focused(page)).toBe('Usage');
      }, own).finally(() => own.close());
    });
  });

  describe.each(['light', 'dark'] as const)('on a phone, %s', (colorScheme) => {
    it('has no fault of accessibility on any page and nothing wider than the window', async () => {
      const phone = await profile(browser, grid, { name: 'alice', viewport: PHONE, colorScheme });
      try {
        await inPage(async (page) => {
          await page.goto(`${grid.url}/portal/`);
          await page.getByRole('button', { name: 'Sign in' }).waitFor();
          await expectAccessible(page);
          await signInToPortal(page, grid, '#/submit');
          await expectAccessible(page);
          await page.getByRole('button', { name: 'Take a while' }).click();
          await page.getByRole('button', { name: 'Submit', exact: true }).click();
          await page.getByRole('heading', { name: 'Output so far' }).waitFor();
          await expectAccessible(page);
          await page.getByRole('link', { name: 'All jobs' }).click();
          await page.getByRole('row').first().waitFor();
          await expectAccessible(page);
          await page.getByRole('link', { name: 'Catalogue' }).click();
          await page.getByText('Filters').click();
          await page.getByRole('checkbox', { name: 'mu', exact: true }).waitFor();
          await expectAccessible(page);
          await page.goto(`${grid.url}/portal/#/catalogue?at=/vo/a/run1`);
          await page.getByRole('link', { name: 'f1' }).click();
          await page.getByRole('heading', { name: '/vo/a/run1/f1' }).waitFor();
          await expectAccessible(page);
        }, phone);
      } finally {
        await phone.close();
      }
    });
  });
});
