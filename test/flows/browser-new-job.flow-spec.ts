import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, profile, signInToPortal, startBrowser } from '../support/browser.js';
import { awaitFinal } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { startGrid, type Grid } from '../support/testbed.js';

describeWith({ met: has('chromium'), name: 'Chromium' })('the form of a new job', () => {
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

  const inPage = async (work: (page: Page) => Promise<void>): Promise<void> => {
    const page = await context.newPage();
    await work(page).finally(() => page.close());
  };
  const submit = (page: Page) => page.getByRole('button', { name: 'Submit', exact: true });
  const manifestOf = async (jid: number) =>
    (await (await grid.as('alice')).get(`/jobs/${jid}/manifest`)).body as Record<string, unknown>;
  const jidOf = (page: Page): number => Number(page.url().split('/').at(-1));
  const file = (name: string, text: string) => ({
    ...{ name, mimeType: 'text/plain', buffer: Buffer.from(text) },
  });

  it('has the group, files of the catalogue and a hold, which the page of the job ends', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=%2Fvo%2Fa%2Frun1');
      await page.getByRole('link', { name: 'f1', exact: true }).click();
      await page.getByRole('link', { name: 'Run a job on it' }).click();
      const files = page.getByLabel('Files to read');
      await files.waitFor();
      expect(await files.inputValue()).toBe('/vo/a/run1/f1');
      await expectAccessible(page);
      await page.getByLabel('Name').fill('held');
      await page.getByLabel('Job group').fill('tuning');
      await page.getByLabel('Program').fill('/bin/true');
      await page.getByRole('button', { name: 'Submit and hold' }).click();
      await page.getByText('Held by its owner').first().waitFor();
      const jid = jidOf(page);
      expect(await manifestOf(jid)).toMatchObject({
        ...{ JobGroup: 'tuning', InputData: ['/vo/a/run1/f1'], Hold: true },
      });
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Release' }).click();
      await awaitFinal(await grid.as('alice'), [jid]);
      await page.getByRole('link', { name: 'Edit and resubmit' }).click();
      await files.waitFor();
      expect(await page.getByLabel('Job group').inputValue()).toBe('tuning');
      await submit(page).click();
      await page.getByRole('heading', { name: /^Job \d+ held$/ }).waitFor();
      expect(await manifestOf(jidOf(page))).not.toHaveProperty('Hold');
    }));

  it('takes ranges of values, and says how many jobs these make', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/submit');
      await page.getByRole('button', { name: 'Start afresh' }).click();
      await page.getByLabel('Program').fill('/bin/echo');
      await page.getByLabel('Arguments').fill('%s');
      const values = page.getByLabel('Values to run it with');
      const check = page.getByRole('button', { name: 'Check only' });
      for (const [text, answer] of [
        ['1:12', 'These 12 jobs would be accepted, with the values 1 to 12.'],
        ['08:10 x -5:5:5', 'These 7 jobs would be accepted, with the values 08 to 5.'],
        ['1..12', 'This job would be accepted, with the one value 1..12.'],
      ] as const) {
        await values.fill(text);
        await check.click();
        await page.getByRole('status').getByText(answer, { exact: true }).waitFor();
      }
      for (const [text, fault] of [
        ['5:1', 'Values to run it with 5:1 has no value'],
        ['1:1000000', 'Values to run it with are more than 100000'],
      ] as const) {
        await values.fill(text);
        await check.click();
        await page.getByRole('alert').getByText(fault).waitFor();
      }
      await values.fill('08:10');
      await submit(page).click();
      await page.getByRole('heading', { name: /^Array \d+/ }).waitFor();
      const cards = page.locator('.members dd');
      await cards.nth(2).waitFor();
      expect(await cards.allInnerTexts()).toEqual(['08', '09', '10']);
    }));

  it('makes several jobs that are all the same', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/submit');
      await page.getByRole('button', { name: 'Start afresh' }).click();
      await page.getByLabel('Program').fill('/bin/true');
      const [copies, values] = [
        page.getByLabel('How many times'),
        page.getByLabel('Values to run'),
      ];
      for (const [text, fault] of [
        ['x', 'must be a whole number from 1 on'],
        ['3', 'is not for jobs with values: each value makes one'],
      ] as const) {
        await copies.fill(text);
        await values.fill(text === 'x' ? '' : '1 2');
        await submit(page).click();
        await page.getByRole('alert').getByText(`How many times ${fault}`).waitFor();
      }
      await values.fill('');
      await page.getByRole('button', { name: 'Check only' }).click();
      await page.getByText('These 3 jobs would be accepted').waitFor();
      await submit(page).click();
      await page.waitForURL(/#\/arrays\/\d+$/);
      await page
        .getByRole('link', { name: /^Job \d+$/ })
        .nth(2)
        .waitFor();
    }));

  it('says what of a batch script has no effect, and is filled from a description', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/submit');
      await page.getByRole('button', { name: 'Start afresh' }).click();
      const files = page.getByLabel('Input files');
      const script = '#!/bin/bash\n#SBATCH --mem=300M\n#SBATCH -n 1\necho\n';
      await files.setInputFiles([file('old.sbatch', script)]);
      const told = page.getByText('In old.sbatch 2 lines #SBATCH have no effect here');
      await told.waitFor();
      const [above, below] = [await files.boundingBox(), await told.boundingBox()];
      expect((below?.y ?? 0) - (above?.y ?? 0)).toBeLessThan(200);
      expect(await page.getByLabel('Program').inputValue()).toBe('old.sbatch');
      const described = {
        ...{ Executable: '/bin/sleep', Arguments: '5', CPUTime: 'two hours', Memory: 500 },
        ...{ OutputSandbox: 'std.out, a.txt', JobGroup: 'g', MaxRAM: 400 },
      };
      await files.setInputFiles([
        file('broken.json', JSON.stringify(described)),
        file('data.json', '{"a": 1}'),
      ]);
      await page.getByText('broken.json looks like the description of a job.').waitFor();
      expect(await told.isVisible()).toBe(true);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Fill the form from it' }).click();
      const left = 'Sent as broken.json has it, without a field here: CPUTime, Memory';
      const said = page.getByText(left);
      await said.waitFor();
      const [chooser, place] = [await files.boundingBox(), await said.boundingBox()];
      expect((place?.y ?? 0) - (chooser?.y ?? 0)).toBeLessThan(300);
      expect(await page.getByLabel('Program').inputValue()).toBe('/bin/sleep');
      expect(await page.getByLabel('Files to bring back').inputValue()).toBe('a.txt');
      expect(await page.getByLabel('Memory at most (MB)').inputValue()).toBe('400');
      expect(await page.getByRole('button', { name: /^Remove / }).allInnerTexts()).toHaveLength(2);
      await page.getByRole('button', { name: 'Check only' }).click();
      const fault = page.getByRole('alert');
      await fault.getByText('must be a whole number of seconds').waitFor();
      await fault.getByText('did you mean MaxRAM?').waitFor();
      await page.goto(`${grid.url}/portal/#/jobs`);
      await page.getByRole('link', { name: 'New job' }).first().click();
      await page.getByText('This was left here and not sent.').waitFor();
      await page.getByRole('button', { name: 'Start afresh' }).click();
    }));

  it('says of a description that it is to be held, and what is wrong with one that no form can show', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/submit');
      await page.getByLabel('Name').fill('typed');
      for (const [more, text] of [
        [{ After: '5' }, 'A value in odd.json is not of the kind that its key has'],
        [{ OutputSandbox: 5 }, 'A value in odd.json is not of the kind that its key has'],
        [{ Hold: true }, 'odd.json is to be held: press Submit and hold.'],
      ] as const) {
        const manifest = { Executable: '/bin/true', ...more };
        const description = JSON.stringify('Hold' in more ? { job: {}, manifest } : manifest);
        await page.getByLabel('Input files').setInputFiles([file('odd.json', description)]);
        expect(await page.getByLabel('Name').inputValue()).toBe('typed');
        await page.getByRole('button', { name: 'Fill the form from it' }).click();
        await page.getByRole('status').getByText(text).waitFor();
      }
      await page.getByLabel('Input files').setInputFiles([file('no.json', '{"Executable":{}}')]);
      await page.getByRole('button', { name: 'Remove no.json' }).waitFor();
      expect(await page.getByText('looks like the description').count()).toBe(0);
    }));

  it('says of a lost try that it was not held, and leads to its job', () =>
    inPage(async (page) => {
      await signInToPortal(page, grid, '#/submit');
      await page.getByLabel('Name').fill('unheld');
      await page.getByLabel('Program').fill('/bin/true');
      await page.route(
        /\/jobs$/,
        async (route) => {
          await route.fetch();
          await route.abort('connectionreset');
        },
        { times: 1 },
      );
      await submit(page).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Submit and hold' }).click();
      await page.getByText('has submitted this job, not held. Press Submit').waitFor();
      await submit(page).click();
      await page.getByRole('heading', { name: /^Job \d+ unheld$/ }).waitFor();
      const alice = await grid.as('alice');
      expect((await alice.get('/jobs?name=unheld')).body.entries).toBe(1);
    }));

  it('says which file has changed after it was chosen', () =>
    inPage(async (page) => {
      const path = join(grid.home, 'changing.sh');
      await writeFile(path, '#!/bin/sh\n');
      await signInToPortal(page, grid, '#/submit');
      await page.getByLabel('Input files').setInputFiles(path);
      await page.getByRole('button', { name: 'Remove changing.sh' }).waitFor();
      await writeFile(path, '#!/bin/sh\necho more\n');
      for (const button of ['Check only', 'Submit']) {
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.getByRole('alert').getByText('choose changing.sh again').waitFor();
      }
      await page.getByLabel('Input files').setInputFiles(path);
      await submit(page).click();
      await page.getByRole('heading', { name: /^Job \d+ job$/ }).waitFor();
    }));
});
