import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  complaintsOf,
  expectAccessible,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const PAGE = 'docs/how-to/everyday-tasks.md';
const TEXT = Buffer.from('one\ntwo\n');
const SCRIPT = Buffer.from('#!/bin/sh\nwc -l < words.txt > lines.txt\ncat lines.txt\n');

describeWith({ met: has('chromium'), name: 'Chromium' })('everyday tasks in the portal', () => {
  let grid: Grid;
  let alice: GridClient;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const done: string[] = [];
  /** Numbers of jobs that later tasks are about. */
  let first = 0;
  let waiting = 0;

  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    [alice, context] = await Promise.all([
      grid.as('alice'),
      profile(browser, grid, { name: 'alice' }),
    ]);
    page = await context.newPage();
    complaints = complaintsOf(page);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const task = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      await work();
      done.push(name);
    });
  };
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const bar = (name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
  const open = (place: string) => page.goto(`${grid.url}/portal/#/${place}`);
  const confirm = (verb: string): Promise<void> =>
    page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
  const newJob = async (fields: Record<string, string>): Promise<void> => {
    await bar('New job').click();
    await page.getByRole('heading', { name: 'New job' }).waitFor();
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
  };
  const submitted = async (name: string): Promise<number> => {
    await button('Submit').click();
    await page.getByRole('heading', { name: new RegExp(`^Job \\d+ ${name}$`) }).waitFor();
    return Number(page.url().split('/').at(-1));
  };
  const isNow = (status: string) => page.locator('.now').getByText(status).waitFor();
  const choose = async (jid: number): Promise<void> => {
    await open('jobs');
    await page.getByRole('checkbox', { name: `Choose job ${jid}`, exact: true }).check();
  };
  const minorOf = async (jid: number): Promise<string> =>
    (await alice.get(`/jobs/${jid}`)).body.minorStatus;

  task('1. Sign in', async () => {
    await signInToPortal(page, grid);
    expect(await page.locator('#who').innerText()).toMatch(/alice\s+grid_user, Prod/);
  });

  task('2. Run a program', async () => {
    await newJob({ Name: 'hello', Program: '/bin/echo', Arguments: 'hello' });
    await page.getByLabel('Sites').fill('LOCAL.demo MOON');
    first = await submitted('hello');
    await page.getByRole('status').getByText('MOON').waitFor(); // accepted, but said
    await isNow('Done');
  });

  task('3. Send files along', async () => {
    await newJob({
      ...{ Name: 'lines', Program: 'count.sh' },
      'Files to bring back': 'lines.txt',
    });
    await page.getByLabel('Input files').setInputFiles([
      { name: 'count.sh', mimeType: 'text/x-shellscript', buffer: SCRIPT },
      { name: 'words.txt', mimeType: 'text/plain', buffer: TEXT },
    ]);
    await submitted('lines');
    await isNow('Done');
  });

  task('4. Check without submitting', async () => {
    const before = (await alice.get('/jobs')).body.entries as number;
    await newJob({ Program: '/bin/echo' });
    await button('Check only').click();
    await page.getByRole('status').getByText('This job would be accepted.').waitFor();
    expect((await alice.get('/jobs')).body.entries).toBe(before);
    await button('Start afresh').click();
  });

  task('5. Sweep over parameters', async () => {
    await newJob({
      ...{ Name: 'sweep', Program: '/bin/echo', Arguments: 'x' },
      'Values to run it with': '1 2 3',
    });
    await button('Check only').click();
    await page.getByRole('alert').getByText('are used nowhere').waitFor();
    await page.getByLabel('Arguments').fill('x=%s');
    await button('Check only').click();
    await page
      .getByRole('status')
      .getByText('These 3 jobs would be accepted, with the values')
      .waitFor();
    await button('Submit').click();
    await page.getByRole('heading', { name: /^Array \d+/ }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    await eventually(
      async () => (await alice.get(`/jobs/arrays/${id}`)).body.states.Done === 3,
      'the sweep to be done',
    );
    const { body } = await alice.get('/jobs', { query: { arrayId: id } });
    const [last] = body.jobs as { jid: number }[];
    expect((await alice.get(`/jobs/${last?.jid}/manifest`)).body).toMatchObject({
      Arguments: 'x=3',
    });
  });

  task('6. Run one after another', async () => {
    await newJob({ Name: 'next', Program: '/bin/true', 'Start after jobs': 'soon' });
    await button('Submit').click();
    await page
      .getByRole('alert')
      .getByText(/^Not submitted. Start after jobs “soon” is no number/)
      .waitFor();
    await page.getByLabel('Start after jobs').fill('999999');
    await button('Submit').click();
    await page.getByRole('alert').getByText('Please look at: Start after jobs').waitFor();
    await page.getByLabel('Start after jobs').fill(String(first));
    const jid = await submitted('next');
    await isNow('Done');
    expect((await alice.get(`/jobs/${jid}/manifest`)).body.After).toEqual([
      { jid: first, on: 'done' },
    ]);
    await link('Edit and resubmit').click();
    await page.getByLabel('Start after jobs').waitFor();
    expect(await page.getByLabel('Start after jobs').inputValue()).toBe(String(first));
    await button('Start afresh').click();
  });

  task('7. List my jobs', async () => {
    await bar('Jobs').click();
    await link(String(first)).waitFor();
    expect(await page.getByRole('row').count()).toBe(7); // six jobs, and the heading
  });

  task('8. Filter', async () => {
    await open('jobs?name=hello');
    await link(String(first)).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(new URL(page.url()).hash).toBe('#/jobs?name=hello');
  });

  it('say so where there is no such page', async () => {
    await open('nonsense');
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await link('Go to your jobs').click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  });

  task('9. Wait, and watch', async () => {
    await open('jobs');
    await link(String(first)).waitFor();
    const { body } = await alice.post<{ jids: number[] }>('/jobs', {
      json: { Executable: '/bin/true', JobName: 'watched' },
    });
    await page.getByRole('row', { name: new RegExp(`\\b${body.jids[0]} watched Done`) }).waitFor();
  });

  task('10. Read what a job has written', async () => {
    await open(`jobs/${first}`);
    await page.getByRole('button', { name: 'View std.out' }).click();
    const shown = page.getByRole('region', { name: 'Content of std.out' });
    expect(await shown.innerText()).toBe('hello\n');
  });

  task('11. Follow a running job', async () => {
    await bar('New job').click();
    await button('Take a while').click();
    await submitted('steps');
    const shown = page.getByRole('region', { name: 'Output so far' });
    await shown.getByText('step 2 of 15').waitFor();
  });

  task('12. Fetch the results', async () => {
    await open(`jobs/${first}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button('Download all output files as tar.gz').click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${first}-outputsandbox.tar.gz`);
  });

  task('13. Everything about a job', async () => {
    await open('jobs');
    await link(String(first)).click();
    await page.getByRole('heading', { name: `Job ${first} hello` }).waitFor();
    const manifest = page.getByRole('region', { name: 'Manifest' });
    expect(JSON.parse(await manifest.innerText())).toMatchObject({ Executable: '/bin/echo' });
  });

  task('14. What a job has gone through', async () => {
    const steps = page.locator('ol.history li b');
    await steps.first().waitFor();
    expect((await steps.allInnerTexts()).filter((text) => text === 'Done')).toEqual(['Done']);
    await page.getByRole('heading', { name: 'Where its time went' }).waitFor();
  });

  task('15. Hold a job back', async () => {
    const json = { Executable: '/bin/true', JobName: 'waits', Tags: ['nowhere'] };
    waiting = (await alice.post<{ jids: number[] }>('/jobs', { json })).body.jids[0] ?? 0;
    await eventually(
      async () => (await alice.get(`/jobs/${waiting}`)).body.status === 'Waiting',
      'the job to wait',
    );
    await choose(waiting);
    await button('Hold 1').click();
    await confirm('Hold');
    await page.getByText('Held: 1 job.').first().waitFor();
    expect(await minorOf(waiting)).toBe('Held by its owner');
  });

  task('16. Release it', async () => {
    await choose(waiting);
    await button('Release 1').click();
    await confirm('Release');
    await page.getByText('Released: 1 job.').first().waitFor();
    expect(await minorOf(waiting)).not.toBe('Held by its owner');
  });

  task('17. Why does it not run?', async () => {
    await open(`jobs/${waiting}`);
    await page.getByRole('heading', { name: 'Why it waits' }).waitFor();
    await page.getByText('nowhere').first().waitFor();
  });

  task('18. Kill', async () => {
    await button('Kill').click();
    await confirm('Kill');
    await isNow('Killed');
  });

  task('19. Run failed jobs again', async () => {
    const json = { Executable: '/bin/false', JobName: 'fails' };
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { json });
    const jid = body.jids[0] ?? 0;
    await open(`jobs/${jid}`);
    await isNow('Failed');
    await button('Retry').click();
    await eventually(
      async () => (await alice.get(`/jobs/${jid}`)).body.reschedules === 1,
      'the retry',
    );
  });

  task('20. Find data by metadata', async () => {
    await bar('Catalogue').click();
    await page.getByRole('checkbox', { name: 'mu', exact: true }).check();
    await page.getByRole('heading', { name: /^\d+ directories, \d+ files/ }).waitFor();
    await link('/vo/b').waitFor();
  });

  task('21. Make a directory and register a file', async () => {
    await open('catalogue?at=/vo');
    const forms = page.getByText('Make a directory or register a file');
    await forms.click();
    await page.getByLabel('New directory').fill('new');
    await button('Make directory').click();
    await link('new/').click();
    await page.getByRole('heading', { name: '/vo/new' }).waitFor();
    await forms.click();
    await page.getByLabel('Name of the file').fill('words');
    await page.getByLabel('Bytes').fill('8');
    await page.getByLabel('Checksum (adler32)').fill('hello');
    await button('Register file').click();
    await page.getByText('must be up to eight hexadecimal digits').waitFor();
    await page.getByLabel('Checksum (adler32)').fill('0a1b2c3d');
    await page.getByLabel('Storage element').fill('SE-A');
    await button('Register file').click();
    await link('words').waitFor();
  });

  task('22. Set and read metadata', async () => {
    await page.getByText('Change this directory').click();
    const set = async (field: string, value: string): Promise<void> => {
      await page.getByLabel('Field', { exact: true }).fill(field);
      await page.getByLabel('Value', { exact: true }).fill(value);
      await button('Set metadata').click();
    };
    await set('nothing', '1');
    await page.getByText('is no metadata field').waitFor();
    await set('energy', 'much');
    await page.getByText('is not a number').waitFor();
    await expectAccessible(page);
    await set('energy', '42');
    await page.locator('[data-field="energy"]').getByText('42').waitFor();
    expect((await alice.get('/filecatalogue/directory/L3ZvL25ldw/metadata')).body).toEqual({
      energy: [42],
    });
  });

  task('23. See where copies lie, and list', async () => {
    const row = page.locator('.found li').filter({ hasText: 'words' });
    expect(await row.innerText()).toContain('SE-A');
    await link('words').click();
    await page.getByRole('heading', { name: 'Replicas' }).waitFor();
    await page.getByText('where its path says').waitFor();
    expect(await page.getByRole('region', { name: 'Found' }).innerText()).toContain('42');
  });

  task('24. Move and remove', async () => {
    const forms = page.getByText('Change this file');
    await forms.click();
    await page.getByLabel('New path').fill('/vo/a/run1/f1');
    await button('Move file').click();
    await page.getByRole('alert').getByText('/vo/a/run1/f1 is there already').waitFor();
    await expectAccessible(page);
    await page.getByLabel('New path').fill('/vo/new/text');
    await button('Move file').click();
    await page.getByRole('heading', { name: '/vo/new/text' }).waitFor();
    await page.getByText('Change this file').click();
    await button('Remove file').click();
    await confirm('Remove');
    await page.getByText('Nothing here.').waitFor();
    await page.getByText('Change this directory').click();
    await button('Remove directory').click();
    await confirm('Remove');
    await page.getByRole('heading', { name: '/vo', exact: true }).waitFor();
    expect(await link('new/').count()).toBe(0);
  });

  task('25. How much ran', async () => {
    await bar('Usage').click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await open('jobs');
    await page.getByText('Charts: over time and by site').click();
    await page.getByRole('heading', { name: 'Over time' }).waitFor();
  });

  it('are all those of the page, without a complaint of the browser', async () => {
    const headings = (await readFile(PAGE, 'utf8')).match(/(?<=^## )\d+\. .*$/gm);
    expect(done).toEqual(headings);
    // Refusals that were asked for.
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
  });
});
