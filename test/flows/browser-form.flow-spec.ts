import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { FormData } from 'undici';
import {
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { awaitFinal, submit as submitted } from '../support/jobs.js';
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

    it('keep what they have changed of another job over a reload, and what they wrote before they took that', async () => {
      const alice = await grid.as('alice');
      const [jid = 0] = await submitted(alice, [{ JobName: 'taken', Executable: '/bin/true' }]);
      await inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        const [name, words] = [page.getByLabel('Name'), page.getByLabel('Arguments')];
        const back = page.getByRole('button', { name: 'Bring it back' });
        await name.fill('mine');
        for (const address of [`?like=${jid}`, '?read=/vo/a']) {
          await page.goto(`${grid.url}/portal/#/submit${address}`);
          await page.waitForURL(`${grid.url}/portal/#/submit`);
        }
        expect(await name.inputValue()).toBe('taken');
        await words.fill('much');
        await page.reload();
        await page.getByRole('heading', { name: 'New job' }).waitFor();
        expect(await words.inputValue()).toBe('much');
        for (const button of ['Hello', 'Start afresh']) {
          await words.fill(`before ${button}`);
          await page.getByRole('button', { name: button }).click();
          expect(await words.inputValue()).not.toContain('before');
          await back.click();
          expect(await words.inputValue()).toBe(`before ${button}`);
        }
        await expectAccessible(page);
      });
    });
  });

  describe('who know what their job needs', () => {
    const folded = (page: Page) => page.locator('details.resources').first();
    const fields = {
      Processors: '1',
      GPUs: '0',
      'Memory to start (MB)': '10',
      'Memory at most (MB)': '900',
      'Wall time at most (s)': '600',
      Tags: 'el9 big:disk',
      Environment: 'A=two  words \nB=x=y',
    };
    const wanted = {
      ...{ NumberOfProcessors: 1, GPUs: 0, MinRAM: 10, MaxRAM: 900, WallTime: 600 },
      ...{ Tags: ['el9', 'big:disk'], ExecutionEnvironment: ['A=two  words ', 'B=x=y'] },
    };
    const manifestOf = async (jid: number) =>
      (await (await grid.as('alice')).get(`/jobs/${jid}/manifest`)).body as Record<string, unknown>;
    const jidOf = (page: Page): number => Number(page.url().split('/').at(-1));

    it('unfold the fields for it, find them again after a reload, and submit them', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByRole('button', { name: 'Start afresh' }).click();
        await page.getByLabel('Name').fill('needs');
        await page.getByLabel('Program').fill('/bin/true');
        expect(await page.getByLabel('Processors').isVisible()).toBe(false);
        await expectAccessible(page);
        await page.getByText('Resources and environment').click();
        for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
        await expectAccessible(page);
        await page.setViewportSize(PHONE);
        await expectAccessible(page);
        await page.reload();
        await page.getByLabel('Processors').waitFor();
        for (const [label, text] of Object.entries(fields)) {
          expect([label, await page.getByLabel(label).inputValue()]).toEqual([label, text]);
        }
        await submit(page).click();
        await page.getByRole('heading', { name: /^Job \d+ needs$/ }).waitFor();
        expect(await manifestOf(jidOf(page))).toMatchObject(wanted);
        await page.getByRole('button', { name: 'Kill' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
        await page.getByRole('link', { name: 'Edit and resubmit' }).click();
        await page.getByLabel('Environment').waitFor();
        for (const [label, text] of Object.entries(fields)) {
          expect([label, await page.getByLabel(label).inputValue()]).toEqual([label, text]);
        }
        await page.getByRole('button', { name: 'Start afresh' }).click();
        expect(await folded(page).getAttribute('open')).toBeNull();
      }));

    it('are told at each of these fields what is wrong with it, also when they are folded away', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByLabel('Program').fill('/bin/true');
        await page.getByText('Resources and environment').click();
        const wrong = {
          ...{ Processors: '0', GPUs: 'two', 'Memory to start (MB)': '-1' },
          ...{ 'Memory at most (MB)': '1.5', 'Wall time at most (s)': '1 h' },
          ...{ Tags: '!', Environment: 'A=1\nBROKEN' },
        };
        for (const [label, text] of Object.entries(wrong)) await page.getByLabel(label).fill(text);
        await page.getByText('Resources and environment').click();
        expect(await page.getByLabel('Processors').isVisible()).toBe(false);
        await submit(page).click();
        await page.getByRole('alert').waitFor();
        for (const label of Object.keys(wrong)) {
          const input = page.getByLabel(label);
          expect([label, await input.getAttribute('aria-invalid')]).toEqual([label, 'true']);
        }
        const said = await page.locator('.resources .wrong').allInnerTexts();
        expect(said.filter((text) => text !== '')).toEqual([
          'must be between 1 and 1024',
          'must be a whole number',
          'must be between 0 and 100000000',
          'must be a whole number of MB',
          'must be a whole number of seconds',
          expect.stringMatching(/^!: is no tag/),
          'must be an object, or a list of texts NAME=value',
        ]);
        expect(await page.evaluate('document.activeElement.id')).toBe('processors');
        await expectAccessible(page);
        await page.setViewportSize(PHONE);
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Start afresh' }).click();
        expect(await page.locator('[aria-invalid]').count()).toBe(0);
      }));

    it('keep of a job what the fields cannot show, and what nobody has changed as it was', async () => {
      const alice = await grid.as('alice');
      const odd = {
        ...{ JobName: 'odd', Executable: '/bin/true', Priority: 3, MinNumberOfProcessors: '1' },
        ...{ Site: 'LOCAL.demo', MaxRAM: '800', WallTime: 500, Tags: [] },
        ExecutionEnvironment: { A: 'first\nsecond', B: '1' },
        OutputSandbox: ['std.out', "it's my plot.svg", '*.log'],
        InputSandbox: ['LFN:/vo/of/catalogue', 'own.txt'],
      };
      const form = new FormData();
      form.append('manifest', JSON.stringify(odd));
      form.append('file', new Blob(['own']), 'own.txt');
      const { body } = await alice.post('/jobs', { multipart: form });
      const [jid = 0] = body.jids as number[];
      await inPage(async (page) => {
        await signInToPortal(page, grid, `#/submit?like=${jid}`);
        await page.getByLabel('Wall time at most (s)').fill('400');
        expect(await page.getByLabel('Sites').inputValue()).toBe('LOCAL.demo');
        expect(await page.getByLabel('Environment').inputValue()).toBe('');
        const output = page.getByLabel('Files to bring back');
        expect(await output.inputValue()).toBe(String.raw`'it'\''s my plot.svg' *.log`);
        await output.fill('"half');
        await submit(page).click();
        const text = 'Files to bring back has a quotation mark or backslash without its end';
        await page.getByRole('alert').getByText(text).waitFor();
        await output.fill(`"it's my plot.svg", *.log`);
        await submit(page).click();
        await page.getByRole('heading', { name: /^Job \d+ odd$/ }).waitFor();
        const { Site, ...others } = odd;
        expect(await manifestOf(jidOf(page))).toMatchObject({
          ...{ ...others, WallTime: 400, Sites: [Site] },
          OutputSandbox: ['std.out', 'std.err', "it's my plot.svg", '*.log'],
        });
      });
    });

    it('choose among the sites where jobs have run, or write others', async () => {
      const alice = await grid.as('alice');
      const manifest = { Executable: '/bin/true' };
      await awaitFinal(alice, await submitted(alice, [manifest]));
      await submitted(alice, [{ ...manifest, Sites: ['MOON'] }]); // it waits
      await inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        const sites = page.getByLabel('Sites');
        await sites.fill('MARS');
        const choice = page.getByRole('group', { name: 'Where jobs have run' });
        const site = choice.getByRole('button', { name: 'LOCAL.demo' });
        await site.click();
        const known = await choice.getByRole('button').allInnerTexts();
        expect(known.filter((name) => !name.startsWith('LOCAL.'))).toEqual([]);
        expect(await sites.inputValue()).toBe('MARS LOCAL.demo');
        expect(await site.getAttribute('aria-pressed')).toBe('true');
        await expectAccessible(page);
        await page.reload();
        await choice.waitFor();
        expect(await site.getAttribute('aria-pressed')).toBe('true');
        await site.click();
        expect(await sites.inputValue()).toBe('MARS');
        await sites.fill('LOCAL.demo');
        expect(await site.getAttribute('aria-pressed')).toBe('true');
        await page.getByRole('button', { name: 'Start afresh' }).click();
        expect(await site.getAttribute('aria-pressed')).toBe('false');
        await page.route(/\/jobs\/summary/, (route) => route.abort('connectionreset'));
        await page.reload();
        await page.getByLabel('Sites').fill('LOCAL.demo');
        expect(await page.getByRole('alert').count()).toBe(0);
      });
    });

    it('add a script, which is the program when none is written', () =>
      inPage(async (page) => {
        await signInToPortal(page, grid, '#/submit');
        await page.getByRole('button', { name: 'Start afresh' }).click();
        const file = (name: string, text: string) => ({
          ...{ name, mimeType: 'text/plain', buffer: Buffer.from(text) },
        });
        const add = (...files: ReturnType<typeof file>[]): Promise<void> =>
          page.getByLabel('Input files').setInputFiles(files);
        const program = page.getByLabel('Program');
        const note = page.getByRole('status').getByText('looks like a script');
        await add(file('words.txt', 'a'), file('go', '#!/bin/sh\necho'), file('b.sh', '#!/bin/sh'));
        await note.waitFor();
        expect(await program.inputValue()).toBe('go');
        expect(await note.innerText()).toMatch(/^Filled in, as go looks like a script\. Write/);
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Remove go' }).click();
        expect(await program.inputValue()).toBe('');
        expect(await note.count()).toBe(0);
        await add(file('fit.py', 'print(1)'));
        await note.waitFor();
        expect(await note.innerText()).toContain('so /bin/sh would run it');
        await page.reload(); // what was filled in is kept
        await page.getByRole('status').getByText('Choose again').waitFor();
        expect(await program.inputValue()).toBe('fit.py');
        await program.fill('/bin/sh');
        await add(file('c.sh', '#!/bin/sh\n'));
        await page.getByRole('button', { name: 'Remove c.sh' }).click();
        expect(await program.inputValue()).toBe('/bin/sh');
        expect(await note.count()).toBe(0);
        await page.getByRole('button', { name: 'Start afresh' }).click();
      }));
  });

  describe('with several tabs', () => {
    it('are signed in in each, renew a token once, and sign out of all', async () => {
      const first = await context.newPage();
      const second = await context.newPage();
      try {
        await signInToPortal(first, grid);
        await second.goto(`${grid.url}/portal/#/jobs`);
        await second.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
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
