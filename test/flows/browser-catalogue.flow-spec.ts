import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { bulk } from '../support/catalogue/events.js';
import { describeWith, has } from '../support/missing.js';
import { authorizePath } from '../support/portal.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { startGrid, type Grid } from '../support/testbed.js';

type Fields = Record<string, { values: { value: string | number; directories: number }[] }>;

describeWith({ met: has('chromium'), name: 'Chromium' })('the catalogue in Chromium', () => {
  let grid: Grid;
  let browser: Browser;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const withPage = async (
    options: Parameters<typeof profile>[2],
    work: (page: Page) => Promise<void>,
  ): Promise<void> => {
    const context = await profile(browser, grid, options);
    await work(await context.newPage()).finally(() => context.close());
  };

  /** What the filters of the page offer: field → value → number. */
  const offered = async (page: Page, field: string): Promise<Record<string, number>> => {
    const rows = await page.locator(`[data-field="${field}"] li`).allInnerTexts();
    return Object.fromEntries(
      rows.map((row) => {
        const [value = '', number = ''] = row.split('\n');
        return [value, Number(number)];
      }),
    );
  };

  const expected = async (query: string, field: string): Promise<Record<string, number>> => {
    const alice = await grid.as('alice');
    const { body } = await alice.get<Fields>('/filecatalogue/metadata', {
      query: `counts=true&maxValues=6${query}`,
    });
    const values = body[field]?.values ?? [];
    return Object.fromEntries(values.map(({ value, directories }) => [String(value), directories]));
  };

  it('offers what the service says, with its numbers, and finds what the service finds', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue');
      await page.getByRole('checkbox', { name: 'e', exact: true }).waitFor();
      for (const field of ['particle', 'energy', 'detector', 'stream']) {
        expect(await offered(page, field)).toEqual(await expected('', field));
      }
      await page.getByRole('checkbox', { name: 'e', exact: true }).check();
      await page.getByRole('heading', { name: '3 directories, 3 files, 60 B' }).waitFor();
      expect(await offered(page, 'run')).toEqual(await expected('&particle=in|e', 'run'));
      expect(await offered(page, 'particle')).toEqual({ e: 3, mu: 2 }); // its own others too
      await page.getByRole('checkbox', { name: 'mu', exact: true }).check();
      await page.getByRole('heading', { name: '5 directories, 5 files, 150 B' }).waitFor();
      await page
        .locator('[data-field="run"]')
        .getByRole('checkbox', { name: '3', exact: true })
        .check();
      await page.getByRole('heading', { name: '1 directory, 2 files, 90 B' }).waitFor();
      const alice = await grid.as('alice');
      const { body } = await alice.get<string>('/filecatalogue/directory/Lw/search', {
        query: { particle: 'in|e,mu', run: '=|3' },
        headers: { accept: 'application/x-ndjson' },
      });
      const paths = body
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { path: string }).path);
      expect(await page.locator('.found li a').allInnerTexts()).toEqual(paths);
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Clear all' }).click();
      await page.getByRole('link', { name: 'vo/' }).waitFor();
    }));

  it('finds by a range of numbers and by a day, and can be linked to', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/vo');
      await page.getByLabel('energy from').fill('200');
      await page.getByRole('button', { name: 'Apply range of energy' }).click();
      await page.getByRole('heading', { name: '2 directories, 2 files, 90 B' }).waitFor();
      expect(page.url()).toBe(`${grid.url}/portal/#/catalogue?at=%2Fvo&energy=%3E%3D%7C200`);
      await page.goto(`${grid.url}/portal/#/catalogue?at=/demo`);
      const taken = page.locator('[data-field="taken"]');
      await taken.getByRole('checkbox').first().check();
      await page.getByRole('heading', { name: /^\d+ directories, [\d,]+ files/ }).waitFor();
    }));

  it('finds by a part of a picture of numbers that is drawn over', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/demo');
      const bars = page.getByRole('img', { name: /^Directories by beam, from 0.5 to 3$/ });
      await bars.scrollIntoViewIfNeeded();
      const box = (await bars.boundingBox())!;
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + box.width / 2, y);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width + 20, y, { steps: 4 });
      await page.mouse.up();
      await page.getByRole('heading', { name: /^[\d,]+ directories, [\d,]+ files/ }).waitFor();
      expect(await page.getByLabel('beam from').inputValue()).toBe('2');
      expect(await page.getByLabel('beam to').inputValue()).toBe('3');
      const { hash } = new URL(page.url());
      const asked = new URLSearchParams(hash.slice(hash.indexOf('?'))).getAll('beam');
      expect(asked).toEqual(['>=|2', '<=|3']);
      expect(await bars.locator('.off').count()).toBe(3); // what is not chosen
      await expectAccessible(page);
    }));

  it('shows attributes and inherited metadata of a file', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/vo/a/run1');
      await page.getByRole('link', { name: 'f1' }).click();
      const found = page.getByRole('region', { name: 'Found' });
      await found.getByRole('heading', { name: '/vo/a/run1/f1' }).waitFor();
      const text = await found.innerText();
      for (const part of ['10 B', 'alice (grid_user)', 'quality', '7', 'energy', '100']) {
        expect(text).toContain(part);
      }
    }));

  it('saves a file from the storage element that has it, and says why it cannot', async () => {
    const storage = new PlayedStorage('bytes of the file');
    try {
      await grid.sql(
        `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}' where name = 'SE-A'`,
        [await storage.start()],
      );
      const file = { kind: 'file', size: 17, replicas: [{ se: 'SE-A' }] };
      await bulk(
        await grid.as('alice'),
        ...['whole', 'other'].map((name, more) => ({
          ...{ ...file, path: `/vo/a/saved/${name}`, size: file.size + more },
        })),
      );
      await withPage({ name: 'alice' }, async (page) => {
        await signInToPortal(page, grid, '#/catalogue?at=/vo/a/saved');
        await page.getByRole('link', { name: 'whole' }).click();
        const [saved] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Save whole' }).click(),
        ]);
        expect(saved.suggestedFilename()).toBe('whole');
        expect(await readFile(await saved.path(), 'utf8')).toBe('bytes of the file');
        await page.goto(`${grid.url}/portal/#/catalogue?at=/vo/a/saved`);
        await page.getByRole('link', { name: 'other' }).click();
        await page.getByRole('button', { name: 'Save other' }).click();
        await page.getByText('SE-A has 17 bytes of /vo/a/saved/other').waitFor();
        await expectAccessible(page);
      });
    } finally {
      await storage.stop();
    }
  });

  it('says what is no date where it was written, and shows files of what is found and where they are stored', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/demo');
      await page.getByLabel('taken from').fill('yesterday');
      await page.getByRole('button', { name: 'Apply range of taken' }).click();
      await page.getByRole('alert').getByText('“yesterday” is no date').waitFor();
      expect(await page.getByLabel('taken from').inputValue()).toBe('yesterday');
      await page.goto(`${grid.url}/portal/#/catalogue?at=/vo&energy=%3E%3D%7Cwrong`);
      await page.getByRole('alert').first().waitFor();
      await page.getByRole('link', { name: 'Clear' }).click();
      await page.getByRole('link', { name: 'a/' }).waitFor();
      await page.getByRole('checkbox', { name: 'mu', exact: true }).check();
      await page.getByRole('button', { name: 'Files of /vo/b', exact: true }).click();
      await page.getByText('No files in the directory itself; look inside.').waitFor();
      await page.getByRole('button', { name: 'Files of /vo/b/run3', exact: true }).click();
      await page.locator('.inside a').first().click();
      await page.getByRole('heading', { name: 'Replicas' }).waitFor();
      await expectAccessible(page);
    }));

  it('makes directories, registers files, and refuses what is wrong without losing it', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/vo/a');
      const open = (): Promise<void> =>
        page.getByText('Make a directory or register a file').click();
      await open();
      await page.getByLabel('New directory').fill('<b>made');
      await page.getByRole('button', { name: 'Make directory' }).click();
      await page.getByRole('link', { name: '<b>made/' }).waitFor();
      await open();
      await page.getByLabel('Name of the file').fill('new.root');
      await page.getByLabel('Bytes').fill('many');
      await page.getByRole('button', { name: 'Register file' }).click();
      await page.getByText('must be a whole number of bytes').waitFor();
      expect(await page.getByLabel('Name of the file').inputValue()).toBe('new.root');
      await page.getByLabel('Bytes').fill('12');
      await page.getByLabel('Storage element').fill('SE-A');
      await page.getByRole('button', { name: 'Register file' }).click();
      await page.getByRole('link', { name: 'new.root' }).click();
      await page.getByText('where its path says').waitFor();
    }));

  it('takes names of fields from an address as names, whatever they are called', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid);
      for (const field of ['constructor=in|a', '__proto__=%3E%3D|2030-01-01']) {
        await page.goto(`${grid.url}/portal/#/catalogue?at=/vo&${field}`);
        await page.getByRole('alert').first().waitFor();
        expect(await page.evaluate('typeof Object.values + typeof {}.from')).toBe(
          'functionundefined',
        );
      }
      await page.goto(`${grid.url}/portal/#/jobs`);
      await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
      expect(await page.getByRole('link', { name: /^Without / }).count()).toBe(0);
    }));

  it('runs on a large directory, and says on how many of its files', async () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `/vo/c/many/f${index}`);
    const lines = names.map((path) => ({ kind: 'file', path, size: 1 }));
    await bulk(await grid.as('alice'), ...lines);
    await withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/run?at=/vo/c/many');
      await page.getByRole('heading', { name: 'Run on 1,000 files' }).waitFor();
      await page.getByText('The first 1,000 only').waitFor();
    });
  });

  it('runs on what was found: so many files a job, checked first, submitted once', () =>
    withPage({ name: 'alice' }, async (page) => {
      await signInToPortal(page, grid, '#/catalogue?at=/vo/a/run1');
      await page.getByRole('link', { name: 'Run on these' }).click();
      await page.getByRole('heading', { name: 'Run on 2 files' }).waitFor();
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('is missing').waitFor();
      await page.getByLabel('Program').fill('/bin/echo');
      await page.getByLabel('Files for each job').fill('0');
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('must be a whole number from 1 to 2').waitFor();
      await page.getByLabel('Files for each job').fill('1');
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('2 jobs would be accepted.').waitFor();
      await page.getByRole('button', { name: 'Submit 2 jobs' }).dblclick();
      await page.getByRole('heading', { name: /^Array \d+/ }).waitFor();
      const alice = await grid.as('alice');
      expect((await alice.get('/jobs')).body.entries).toBe(2);
      const [job] = (await alice.get('/jobs')).body.jobs;
      const { body } = await alice.get(`/jobs/${job.jid}/manifest`);
      expect(body.InputData).toEqual(['/vo/a/run1/f2']);
    }));

  it.each([
    ['sign-in', authorizePath()],
    ['error', authorizePath({ client_id: 'nobody' })],
    ['device', '/oauth2/device'],
  ])('%s page for a visitor without certificate is accessible on a phone', (_name, path) =>
    withPage({ viewport: PHONE }, async (page) => {
      await page.goto(grid.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectAccessible(page);
    }),
  );
});
