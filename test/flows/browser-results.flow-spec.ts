import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  expectAccessible,
  PHONE,
  profile,
  signInToPortal,
  startBrowser,
} from '../support/browser.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const MARKUP = (url: string): string =>
  `<h1>Report</h1><script>top.hit=1;parent.hit=1</script><img src="${url}/hit-image.png" onerror="top.hit=1">` +
  `<link rel="stylesheet" href="${url}/hit-style.css"><meta http-equiv="refresh" content="0;url=${url}/hit-refresh">` +
  `<form action="${url}/hit-form"><button>Send</button></form><iframe src="${url}/hit-frame"></iframe>`;
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>`;

describeWith({ met: has('chromium'), name: 'Chromium' })('results of jobs', () => {
  let grid: Grid;
  let browser: Browser;
  let context: BrowserContext;
  let alice: GridClient;
  let jid: number;
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    context = await profile(browser, grid, { name: 'alice' });
    alice = await grid.as('alice');
    jid = await withFiles({
      'a.csv': 'step,energy,note\n1,10,"a ""quoted"", cell"\n2,30,<b>x</b>\n3,20,z\n',
      'bare.csv': '5,1e3\n6,-2\n',
      'b.json': '{"deep":{"list":[1,2]},"name":"<img src=x onerror=top.hit=1>"}',
      'broken.json': '{"deep":',
      'c.md':
        '# Title\n\n- one **bold**\n- [link](javascript:top.hit=1)\n\n<script>top.hit=1</script>\n',
      'd.html': MARKUP(grid.url),
      'e.ipynb': JSON.stringify({
        cells: [
          { cell_type: 'markdown', source: ['## Notes'] },
          {
            cell_type: 'code',
            source: ['print(1)'],
            outputs: [
              { text: ['printed\n'] },
              { data: { 'text/html': MARKUP(grid.url) } },
              { data: { 'image/png': '" onerror="top.hit=1' } },
            ],
          },
        ],
      }),
      'f.pdf': PDF,
    });
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  /** A job that has written these files. */
  const withFiles = async (files: Record<string, string>): Promise<number> => {
    const writes = Object.keys(files).map((name, at) => `printf %s "$${at + 1}" > ${name}`);
    const Arguments = ['-c', writes.join('; '), 'x', ...Object.values(files)];
    const manifest = { Executable: '/bin/sh', Arguments, OutputSandbox: ['*.*'] };
    const { body } = await alice.post('/jobs', { json: manifest });
    await eventually(
      async () => (await alice.get(`/jobs/${body.jids[0]}`)).body.status === 'Done',
      'the files are there',
      90_000,
    );
    return Number(body.jids[0]);
  };

  const inPage = async (hash: string, work: (page: Page) => Promise<void>): Promise<void> => {
    const page = await context.newPage();
    try {
      await signInToPortal(page, grid, hash);
      await work(page);
    } finally {
      await page.close();
    }
  };
  const view = (page: Page, name: string) =>
    page.getByRole('button', { name: `View ${name}`, exact: true }).click();

  it('are tables with a chart, JSON, Markdown and text, and never markup', () =>
    inPage(`#/jobs/${jid}`, async (page) => {
      await view(page, 'a.csv');
      const table = page.getByRole('region', { name: 'Content of a.csv' });
      await table.waitFor();
      expect(await table.locator('td').allInnerTexts()).toEqual([
        '1',
        '10',
        'a "quoted", cell',
        '2',
        '30',
        '<b>x</b>',
        '3',
        '20',
        'z',
      ]);
      await page.getByRole('img', { name: 'energy over step: from 10 to 30' }).waitFor();
      await expectAccessible(page);
      await view(page, 'bare.csv');
      const bare = page.getByRole('region', { name: 'Content of bare.csv' });
      await bare.waitFor();
      expect(await bare.locator('th').allInnerTexts()).toEqual(['column 1', 'column 2']);
      expect(await bare.locator('td').allInnerTexts()).toEqual(['5', '1e3', '6', '-2']);
      await view(page, 'b.json');
      const json = page.getByRole('region', { name: 'Content of b.json' });
      expect(await json.innerText()).toContain('    "list": [\n');
      await view(page, 'broken.json');
      await page.getByText('Not readable as json').waitFor();
      await view(page, 'c.md');
      const prose = page.locator('.prose');
      await prose.getByRole('heading', { name: 'Title' }).waitFor();
      expect(await prose.locator('b').innerText()).toBe('bold');
      expect(await prose.locator('a, script').count()).toBe(0);
      expect(await prose.innerText()).toContain('<script>top.hit=1</script>');
      await expectAccessible(page);
      expect(await page.evaluate(`'hit' in window`)).toBe(false);
    }));

  it('that are pages and notebooks stand in frames that load, run, send and open nothing', () =>
    inPage(`#/jobs/${jid}`, async (page) => {
      // The browser tells of what it refuses to ask for, too: nothing of that may have gone out.
      const asked: string[] = [];
      const refused: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('requestfailed', (request) => {
        if (request.failure()?.errorText === 'csp') refused.push(request.url());
      });
      await view(page, 'd.html');
      const frame = page.frameLocator('iframe[title="Content of d.html"]');
      await frame.getByRole('heading', { name: 'Report' }).waitFor();
      expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
      await frame.getByRole('button', { name: 'Send' }).click();
      await view(page, 'e.ipynb');
      await page.getByText('printed', { exact: true }).waitFor();
      const cell = page.frameLocator('iframe[title="Content of a cell"]');
      await cell.getByRole('heading', { name: 'Report' }).waitFor();
      expect(await page.locator('.notebook img').count()).toBe(0);
      const hits = asked.filter((url) => url.includes('hit-'));
      await eventually(() => Promise.resolve(refused.length === hits.length), 'all refused');
      expect(refused).toEqual(hits);
      expect(hits.filter((url) => !/hit-(style|image)/.test(url))).toEqual([]);
      expect(await page.evaluate(`'hit' in window`)).toBe(false);
      await view(page, 'f.pdf');
      const pdf = page.locator('iframe[title="Content of f.pdf"]');
      expect(await pdf.getAttribute('src')).toMatch(/^data:application\/pdf;base64,/);
      expect(page.url()).toBe(`${grid.url}/portal/#/jobs/${jid}`);
    }));

  it('of an array stand beside each other with what was varied', async () => {
    const draw = `printf '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' > a.svg; test %s -lt 30`;
    const { body } = await alice.post('/jobs?array=true', {
      json: {
        ...{ Executable: '/bin/sh', Arguments: ['-c', draw], Parameters: ['10', '40'] },
        OutputSandbox: ['a.svg'],
      },
    });
    await inPage(`#/arrays/${body.arrayId}`, async (page) => {
      await page.getByRole('button', { name: 'Retry 1 failed one' }).waitFor({ timeout: 90_000 });
      expect(await page.locator('.members dd').allInnerTexts()).toEqual(['…10…', '…40…']);
      await page.getByRole('img', { name: `Picture of job ${body.jids[0]}` }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Retry 1 failed one' }).click();
      await eventually(
        async () => (await alice.get(`/jobs/${body.jids[1]}`)).body.reschedules === 1,
        'the failed member is retried',
      );
      await page.getByText('1 job will run again.').waitFor();
      await awaitFinal(alice, body.jids);
      await grid.sql(`update jobs set reschedules = 3 where jid = ${body.jids[1]}`);
      await page.getByRole('button', { name: 'Retry 1 failed one' }).click();
      await page.getByText('Not run again: 1 job, rescheduled as often as').waitFor();
      await page.goto(`${grid.url}/portal/#/arrays/no-number`);
      await page.getByRole('alert').getByText('No array has that number.').waitFor();
    });
  });

  it('of an array, and lists of jobs, are saved as tables', async () => {
    const texts = `echo "=$1,\\"a\\""; echo x`;
    const long = 'head -c 20001 /dev/zero | tr "\\0" a';
    const { body } = await alice.post('/jobs?array=true', {
      json: {
        ...{ JobName: 'prints', Executable: '/bin/sh', Parameters: ['1', '2', 'quiet', 'long'] },
        Arguments: ['-c', `case $1 in quiet) ;; long) ${long};; *) ${texts};; esac`, 'x', '%s'],
      },
    });
    const jids = body.jids as number[];
    await awaitFinal(alice, jids);
    await inPage(`#/arrays/${body.arrayId}`, async (page) => {
      const saved = async (button: string): Promise<[string, string]> => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: button }).click(),
        ]);
        const text = await readFile(await download.path(), 'utf8');
        return [download.suggestedFilename(), text];
      };
      expect(await saved('Save outputs as CSV')).toEqual([
        `array-${body.arrayId}.csv`,
        [
          'job,Arguments,status,std.out',
          `${jids[0]},1,Done,"'=1,""a""\nx"`,
          `${jids[1]},2,Done,"'=2,""a""\nx"`,
          `${jids[2]},quiet,Done,`,
          `${jids[3]},long,Done,${'a'.repeat(20_000)}…`,
          '',
        ].join('\r\n'),
      ]);
      await page.getByText('Of 1 member the table has only the begin').waitFor();
      await page.goto(`${grid.url}/portal/#/jobs?name=prints`);
      const [name, text] = await saved('Save these jobs as CSV');
      const [head, ...rows] = text.split('\r\n');
      expect([name, head?.split(',').slice(0, 4)]).toEqual([
        'jobs.csv',
        ['job', 'name', 'job group', 'status'],
      ]);
      expect(rows.map((row) => row.split(',').slice(0, 4))).toEqual([
        ...[...jids].reverse().map((jid) => [String(jid), 'prints', '00000000', 'Done']),
        [''],
      ]);
      await page.goto(`${grid.url}/portal/#/jobs`);
      await page.getByRole('button', { name: 'Failed in the last day' }).click();
      const since = page.getByRole('link', { name: /^Without since / });
      await since.waitFor();
      await expectAccessible(page);
      await since.click();
      await since.waitFor({ state: 'detached' });
      expect(page.url()).not.toContain('from=');
    });
  });

  it('of an array are saved beside whole values, and said to be unknown where these cannot be read', async () => {
    const manifest = { JobName: 'tens', Executable: '/bin/echo', Arguments: '--n=%s0 -v' };
    const alice = await grid.as('alice');
    const json = { ...manifest, Parameters: ['10', '11', '12'] };
    const { body } = await alice.post('/jobs?array=true', { json });
    const jids = body.jids as number[];
    await awaitFinal(alice, jids);
    await inPage('#/jobs', async (page) => {
      const rowsSaved = async (): Promise<string[]> => {
        await page.goto(`${grid.url}/portal/#/arrays/${body.arrayId}`);
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Save outputs as CSV' }).click(),
        ]);
        const text = await readFile(await download.path(), 'utf8');
        return text.split('\r\n').map((row) => row.split(',')[1] ?? '');
      };
      expect(await rowsSaved()).toEqual(['Arguments', '100', '110', '120', '']);
      await page.goto(`${grid.url}/portal/#/jobs`);
      await page.route(`**/jobs/${jids[0]}/manifest`, (route) => route.abort());
      expect(await rowsSaved()).toEqual(['Arguments', '?', '110', '120', '']);
      await page.getByText('With ? stand 1 member whose manifest could not be read.').waitFor();
    });
  });

  it('have names that cannot look like others', async () => {
    const json = { JobName: 'exe.\u202egnp', Executable: '/bin/true' };
    const alice = await grid.as('alice');
    const { body } = await alice.post('/jobs', { json });
    await inPage(`#/jobs/${body.jids[0]}`, (page) =>
      page.getByRole('heading', { name: 'exe.\ufffdgnp' }).waitFor(),
    );
  });

  it('that were not asked for are brought by another run, whatever their names are', async () => {
    const names = ['a,b.txt', 'it\'s "mine".svg', 'my plot.svg', 'plain.txt', 'sub dir/x.log'];
    const writes = ['mkdir "sub dir"', ...names.map((_, at) => `echo x > "$${at + 1}"`)];
    const manifest = {
      ...{ JobName: 'forgets', Executable: '/bin/sh', OutputSandbox: ['std.out', '*.none'] },
      Arguments: ['-c', writes.join('; '), 'x', ...names],
    };
    const [first = 0] = await submit(alice, [manifest]);
    await awaitFinal(alice, [first]);
    await inPage(`#/jobs/${first}`, async (page) => {
      await page.getByRole('link', { name: 'Add them and run again' }).click();
      const note = `Files to bring back has what job ${first} made and did not bring back.`;
      await page.getByRole('status').getByText(note).waitFor();
      const output = await page.getByLabel('Files to bring back').inputValue();
      expect(output).toMatch(/^\*\.none /);
      expect(output).toContain(" 'my plot.svg'");
      await expectAccessible(page);
      await page.setViewportSize(PHONE);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Submit', exact: true }).click();
      await page.getByRole('heading', { name: /^Job \d+ forgets$/ }).waitFor();
      const second = Number(page.url().split('/').at(-1));
      await awaitFinal(alice, [second]);
      const { body } = await alice.get(`/jobs/${second}/outputsandbox/files`);
      const brought = (body.files as { name: string }[]).map(({ name }) => name);
      expect(brought).toEqual(expect.arrayContaining(names));
      const parameters = (await alice.get(`/jobs/${second}/parameters`)).body;
      expect(parameters).not.toHaveProperty('OutputNotRequested');
    });
  });

  it('that are too many to be named say how many are missing', async () => {
    const make =
      'i=0; while [ $i -lt 103 ]; do echo x > $i.txt; i=$((i+1)); done; echo x > "a and 7 more"';
    const [jid = 0, few = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', make] },
      { Executable: '/bin/sh', Arguments: ['-c', 'echo x > "a and 7 more"'] },
    ]);
    await awaitFinal(alice, [jid, few]);
    await inPage(`#/submit?like=${jid}&bring=made`, async (page) => {
      await page.getByRole('status').getByText(`The list of job ${jid} was cut: 4 files`).waitFor();
      await expectAccessible(page);
      await page.goto(`${grid.url}/portal/#/submit?like=${few}&bring=made`);
      await page.getByRole('status').getByText(`what job ${few} made`).waitFor();
      const output = page.getByLabel('Files to bring back');
      expect(await output.inputValue()).toBe("'a and 7 more'");
      await page.goto(`${grid.url}/portal/#/submit?like=${few}`);
      await page
        .getByRole('status')
        .getByText(`what job ${few} made`)
        .waitFor({ state: 'detached' });
      expect(await output.inputValue()).toBe('');
    });
  });

  it('are followed while they are written, and of a terminal only the words are shown', async () => {
    const talk =
      'printf "\\033[31mred\\033[0m 1%%\\r2%%\\n"; echo oops >&2; while ! test -e stop; do sleep 0.2; done';
    const { body } = await alice.post('/jobs', {
      json: { Executable: '/bin/sh', Arguments: ['-c', talk], JobName: 'talks' },
    });
    await inPage(`#/jobs/${body.jids[0]}`, async (page) => {
      const output = page.getByRole('region', { name: 'Output so far' });
      await output.getByText('2%').waitFor({ timeout: 90_000 });
      expect(await output.innerText()).toBe('2%\n');
      await page.getByRole('button', { name: 'std.err' }).click();
      await page.getByRole('region', { name: 'Errors so far' }).getByText('oops').waitFor();
      await page.getByRole('heading', { name: 'Where its time went' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Kill' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
      await page.locator('.now').getByText('Killed').waitFor();
      await page.getByRole('link', { name: 'Edit and resubmit' }).waitFor();
    });
  });
});
