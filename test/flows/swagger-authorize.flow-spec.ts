import { AxeBuilder } from '@axe-core/playwright';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { startBrowser } from '../support/browser.js';
import { describeWith, has } from '../support/missing.js';
import { authorizePath } from '../support/portal.js';
import { startGrid, type Grid } from '../support/testbed.js';

describeWith({ met: has('chromium'), name: 'Chromium' })('pages in Chromium', () => {
  let grid: Grid;
  let browser: Browser;
  beforeAll(async () => {
    grid = await startGrid();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const open = (options: { javaScriptEnabled?: boolean; width?: number } = {}) =>
    browser.newContext({
      ignoreHTTPSErrors: true, // the development CA is not the browser's
      javaScriptEnabled: options.javaScriptEnabled ?? true,
      viewport: { width: options.width ?? 1200, height: 900 },
      clientCertificates: [
        {
          origin: grid.url,
          certPath: join(grid.home, 'pki', 'alice.crt'),
          keyPath: join(grid.home, 'pki', 'alice.key'),
        },
      ],
    });

  async function withContext(
    context: Promise<BrowserContext>,
    work: (context: BrowserContext) => Promise<void>,
  ): Promise<void> {
    const opened = await context;
    await work(opened).finally(() => opened.close());
  }

  it("completes Flow B with PKCE from Swagger UI's Authorize button", () =>
    withContext(open(), async (context) => {
      const page = await context.newPage();
      await page.goto(`${grid.url}/docs`);
      await page.click('.btn.authorize');
      const flow = page.locator('.auth-container', { hasText: 'authorizationCode with PKCE' });
      await page.locator('#api_key_value').waitFor();
      const scrolled = 'document.querySelector(".modal-ux-content").scrollTop';
      expect(await page.evaluate(scrolled)).toBe(0); // the sign-in is what one sees first
      const [popup] = await Promise.all([
        context.waitForEvent('page'),
        flow.locator('button.authorize').click(),
      ]);
      await popup.click('button[value=allow]');
      await flow.getByText('Authorized', { exact: true }).waitFor();
      await page.click('.modal-ux .close-modal');
      const operation = page.locator('.opblock-summary-path[data-path="/jobs"]').first();
      await operation.click();
      await page.locator('.opblock.is-open .execute').click();
      const status = page.locator('.opblock.is-open .live-responses-table .response-col_status');
      await status.last().waitFor();
      expect(await status.last().innerText()).toContain('200');
    }));

  it.each(['/oauth2/device', '/oauth2/applications', authorizePath()])(
    'shows %s without a fault of accessibility or style, wide and narrow',
    (path) =>
      withContext(open({ width: 360 }), async (context) => {
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        await page.goto(grid.url + path);
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id }) => id)).toEqual([]);
        const overflow = 'document.documentElement.scrollWidth > window.innerWidth';
        expect(await page.evaluate(overflow)).toBe(false);
        expect(
          await page.evaluate('getComputedStyle(document.querySelector("main")).borderRadius'),
        ).toBe('14px');
        expect(complaints).toEqual([]);
      }),
  );

  it('needs no scripts and no mouse', () =>
    withContext(open({ javaScriptEnabled: false }), async (context) => {
      const page = await context.newPage();
      await page.goto(grid.url + authorizePath());
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.status() === 303),
        page.keyboard.press('Enter'),
      ]);
      const { searchParams } = new URL(answer.headers()['location'] ?? '');
      expect([...searchParams.keys()]).toEqual(['code', 'state', 'iss']);
    }));
});
