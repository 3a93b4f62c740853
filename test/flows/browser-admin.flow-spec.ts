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
import { StartedWorker } from '../support/started-worker.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const SECTIONS: [hash: string, heading: RegExp][] = [
  ['#/admin', /^Users$/],
  ['#/admin/groups', /^Groups$/],
  ['#/admin/groups/grid_adm', /^grid_adm$/],
  ['#/admin/applications', /^Applications$/],
  ['#/admin/keys', /^Signing keys$/],
  ['#/admin/sites', /^Sites$/],
  ['#/admin/workers', /^Workers$/],
  ['#/admin/audit', /^Audit trail$/],
];

describeWith({ met: has('chromium'), name: 'Chromium' })('the page of administration', () => {
  let grid: Grid;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    [grid, browser] = await Promise.all([startGrid(), startBrowser()]);
    context = await profile(browser, grid, { name: 'adam' });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: grid.url });
    page = await context.newPage();
    complaints = complaintsOf(page);
    await signInToPortal(page, grid);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  /** In the dialog that asks. */
  const confirm = async (question: string, action: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByText(question).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: action }).click();
  };
  const said = (text: string): Promise<void> =>
    page.getByRole('main').getByRole('status').getByText(text).waitFor();
  const open = async (hash: string, heading: RegExp): Promise<void> => {
    await page.goto(`${grid.url}/portal/${hash}`);
    await page.getByRole('heading', { level: 2, name: heading }).waitFor();
  };
  const signInToAdminister = async (decision: string): Promise<void> => {
    await page.getByRole('button', { name: 'Sign in to administer' }).click();
    const text = 'Administer the service: its users, groups, applications, signing keys and sites';
    await page.getByText(text).waitFor();
    expect(await page.getByRole('radio', { name: 'grid_adm' }).isChecked()).toBe(true);
    await expectAccessible(page);
    await page.getByRole('button', { name: decision }).click();
  };

  it('is not offered to others, and says why there is nothing for them', async () => {
    const other = await profile(browser, grid, { name: 'alice' });
    const alice = await other.newPage();
    await signInToPortal(alice, grid);
    await alice.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await alice.keyboard.press('Control+k');
    await alice.keyboard.type('administration');
    await alice.getByRole('dialog').getByText('Nothing has that name').waitFor();
    await alice.keyboard.press('Escape');
    await alice.goto(`${grid.url}/portal/#/admin`);
    await alice.getByText('does not administer the service').waitFor();
    expect(await alice.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await expectAccessible(alice);
    await other.close();
  });

  it('explains that everyday rights do not do, and takes a no', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('admin');
    await page.getByRole('option', { name: 'Administration', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('without the rights to administer').waitFor();
    await expectAccessible(page);
    await signInToAdminister('Deny');
    await page.getByText('without the rights to administer').waitFor();
    await signInToAdminister('Allow');
    await page.getByRole('heading', { level: 2, name: 'Users' }).waitFor();
    expect(page.url()).toBe(`${grid.url}/portal/#/admin`);
  });

  it('has no fault of WCAG 2.2 AA in both themes and on a phone', async () => {
    const usual = page.viewportSize();
    for (const [colorScheme, size] of [
      ['light', usual],
      ['dark', usual],
      ['dark', PHONE],
      ['light', PHONE],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      if (size) await page.setViewportSize(size);
      for (const [hash, heading] of SECTIONS) {
        await open(hash, heading);
        await expectAccessible(page);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    if (usual) await page.setViewportSize(usual);
  });

  it('disables a user, when it was confirmed, and enables one, who is in the same groups', async () => {
    await open('#/admin/users', /^Users$/);
    await page.getByLabel('Look for').fill('carol');
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('One user', { exact: true }).waitFor();
    expect(page.url()).toContain('#/admin/users?search=carol');
    const disable = page.getByRole('button', { name: 'Disable carol' });
    await disable.click();
    await confirm('Disable carol?', 'Cancel');
    await disable.click();
    await confirm('Disable carol?', 'Disable');
    await said('carol is disabled.');
    await page.getByRole('cell', { name: 'Disabled grid_user' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Enable carol' }).click();
    await said('carol is enabled.');
    await page.getByRole('cell', { name: 'grid_user', exact: true }).waitFor();
  });

  it('adds a user, and says why somebody cannot be', async () => {
    await open('#/admin/users', /^Users$/);
    const add = page.getByRole('button', { name: 'Add', exact: true });
    await page.getByLabel('Name', { exact: true }).fill('dora');
    await page.getByLabel('Certificate').fill('/DC=org/CN=Dora Example');
    await page.getByLabel('Groups').fill('grid_user');
    await add.click();
    await said('dora is added.');
    await page.getByRole('cell', { name: 'dora', exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Name', { exact: true }).fill('dora');
    await add.click();
    await page.getByRole('alert').getByText('There is already a user dora').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('takes a user out of a group and into it, and nobody who is not there', async () => {
    await open('#/admin/groups/grid_user', /^grid_user$/);
    await page.getByRole('button', { name: 'Remove carol' }).click();
    await confirm('Take carol out of grid_user?', 'Remove');
    await said('carol is no member of grid_user any more.');
    await page.getByLabel('New member').fill('carol');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await said('carol is a member of grid_user.');
    await page.getByLabel('New member').fill('nobody');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').getByText('There is no user nobody').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
  });

  it('asks before somebody may administer, and keeps the last one', async () => {
    await open('#/admin/groups/grid_adm', /^grid_adm$/);
    await page.getByLabel('New member').fill('mona');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await confirm('mona will be able to administer the service', 'Cancel');
    await page.getByRole('button', { name: 'Remove adam' }).click();
    await confirm('Take adam out of grid_adm?', 'Remove');
    await page.getByRole('alert').getByText('Nobody could administer the service').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('registers an application, shows its secret once, copies it, and removes it', async () => {
    await open('#/admin/applications', /^Applications$/);
    await page.getByLabel('Name').fill('Mine');
    await page.getByLabel('client_id').fill('mine');
    await page.getByLabel('Redirect URIs').fill('https://a.example/cb https://b.example/cb');
    await page.getByLabel('It can keep a secret').check();
    await page.getByRole('button', { name: 'Register' }).click();
    await said('mine is registered. Its secret, told only now:');
    await expectAccessible(page);
    const secret = await page.getByRole('main').getByRole('status').locator('code').innerText();
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.reload();
    await page.getByRole('cell', { name: 'https://a.example/cb https://b.example/cb' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Remove mine' }).click();
    await confirm('Remove Mine (mine)?', 'Remove');
    await said('Mine is removed.');
    await page.getByLabel('Redirect URIs').fill('ftp://x');
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('alert').getByText('redirectUris').first().waitFor();
    await expectAccessible(page);
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
  });

  it('rotates keys, and drains and resumes a site', async () => {
    for (const table of ['signing_key', 'id_token_key']) {
      await grid.sql(`update ${table} set created_at = now() where active_from is null`);
    }
    await open('#/admin/keys', /^Signing keys$/);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await confirm('Let the next signing keys take over?', 'Rotate');
    await said('The next keys take over.');
    await page.getByRole('cell', { name: 'takes over soon' }).first().waitFor();
    await open('#/admin/sites', /^Sites$/);
    await page.getByRole('button', { name: 'Drain LOCAL.demo' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('new kernel');
    await confirm('Give LOCAL.demo no new jobs?', 'Drain');
    await said('LOCAL.demo is drained.');
    await page.getByRole('cell', { name: /^Drained .* by adam new kernel$/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Resume LOCAL.demo' }).click();
    await said('LOCAL.demo gets jobs again.');
    await page.getByRole('button', { name: 'Drain LOCAL.demo' }).click();
    await page.getByRole('dialog').waitFor();
    await page.goBack(); // a question does not outlive its page
    await page.getByRole('heading', { level: 2, name: 'Signing keys' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('adds a site and removes it, and shows, drains and removes its workers', async () => {
    await open('#/admin/sites', /^Sites$/);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').getByText('Name is missing').waitFor();
    await page.getByLabel('Name').fill('DESK.demo');
    await page.getByLabel('Processors').fill('64');
    await page.getByLabel('Tags').fill('el9 !');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').getByText('tags').first().waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await page.getByLabel('Tags').fill('el9');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await said('DESK.demo is added. Workers join it with a secret');
    await page.getByRole('cell', { name: '64 processors, tags el9' }).waitFor();
    await expectAccessible(page);
    await open('#/admin/workers', /^Workers$/);
    await page.getByText('There are none.').waitFor();
    await page.getByText('itself runs the jobs of LOCAL.demo').waitFor();
    await expectAccessible(page);
    const state = (id: string) =>
      page.getByRole('row').filter({ hasText: id }).getByRole('cell').nth(2);
    const become = (id: string, wanted: RegExp): Promise<unknown> =>
      eventually(async () => {
        await page.reload();
        await page.getByRole('heading', { level: 2, name: 'Workers' }).waitFor();
        return wanted.test(await state(id).innerText());
      }, `a worker that is ${wanted}`);
    const press = (id: string, name: RegExp): Promise<void> =>
      page.getByRole('row').filter({ hasText: id }).getByRole('button', { name }).click();
    const workers: StartedWorker[] = [];
    try {
      for (const which of [0, 1]) workers[which] = await StartedWorker.start(grid, 'DESK.demo');
      const [first = '', second = ''] = workers.map(({ id }) => id);
      await become(second, /^Active/);
      await expectAccessible(page);
      await press(second, /^Remove /);
      await confirm('It is let in no more', 'Remove');
      await said('is removed.');
      await become(second, /^Gone/);
      await press(first, /^Drain /);
      await confirm('no more jobs?', 'Drain');
      await said('is given no more jobs.');
      await become(first, /^(Draining|Gone)/); // it has nothing to do, and ends
    } finally {
      for (const worker of workers) await worker.remove();
    }
    await open('#/admin/sites', /^Sites$/);
    await page.getByRole('button', { name: 'Remove DESK.demo' }).click();
    await confirm('Remove DESK.demo from the registry?', 'Remove');
    await said('DESK.demo is removed.');
  });

  it('searches the audit trail', async () => {
    await open('#/admin/audit', /^Audit trail$/);
    await page.getByLabel('Event').fill('client.*');
    const others = page.getByRole('cell', { name: /^registry\.changed/ });
    await others.first().waitFor();
    await page.getByRole('button', { name: 'Search' }).click();
    await others.first().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'client.added' }).first().waitFor();
    expect(page.url()).toBe(`${grid.url}/portal/#/admin/audit?event=client.*`);
    const events = page.getByRole('row').locator('td:nth-child(2) b');
    expect(new Set(await events.allInnerTexts())).toEqual(
      new Set(['client.added', 'client.removed']),
    );
    await page.getByLabel('From').fill('yesterday');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('alert').getByText('since').waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe('yesterday');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await page.getByRole('button', { name: 'Refusals of a day' }).click();
    await others.first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('User').fill('nobody');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Nothing like that is kept.').waitFor();
  });

  it('gives the rights back', async () => {
    await page.getByRole('button', { name: 'Give these rights back' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.getByRole('link', { name: 'Administration' }).click();
    await page.getByText('without the rights to administer').waitFor();
    const tokens = await page.evaluate<string>("sessionStorage.getItem('portal.tokens')");
    expect((JSON.parse(tokens) as { scope: string }).scope.split(' ')).not.toContain('admin');
    expect(complaints).toEqual([]);
  });
});
