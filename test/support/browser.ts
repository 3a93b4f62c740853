import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@jest/globals';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import { programPath } from './programs.mjs';
import type { Grid, Identity } from './testbed.js';

export const PHONE = { width: 360, height: 740 };

/** Starts headless Chromium. */
export function startBrowser(): Promise<Browser> {
  const executablePath = programPath('chromium');
  if (executablePath === undefined) throw new Error('chromium is not installed');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A fresh browser profile, with the certificate of a demo identity or without any. */
export function profile(
  browser: Browser,
  grid: Grid,
  options: BrowserContextOptions & { name?: Identity } = {},
): Promise<BrowserContext> {
  const { name, ...rest } = options;
  const file = (kind: string): string => join(grid.home, 'pki', `${name}.${kind}`);
  const pair = { origin: grid.url, certPath: file('crt'), keyPath: file('key') };
  return browser.newContext({
    ignoreHTTPSErrors: true, // the development CA is not the browser's
    ...(name !== undefined && { clientCertificates: [pair] }),
    ...rest,
  });
}

/** What the page has complained about: broken scripts, refused resources, errors of the console. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return complaints;
}

/** Opens the portal of the service and signs in, through the consent page if the user has not been there before; the page has come then. */
export async function signInToPortal(page: Page, grid: Grid, place = '#/jobs'): Promise<void> {
  await page.goto(`${grid.url}/portal/${place}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const allow = page.getByRole('button', { name: 'Allow' });
  const signOut = page.getByRole('button', { name: 'Sign out' });
  await allow.or(signOut).waitFor();
  if (await allow.isVisible()) await allow.click();
  await signOut.waitFor();
  await hasCome(page);
}

/** Waits for the page of the portal that is on its way. */
async function hasCome(page: Page): Promise<void> {
  await page.locator('main[aria-busy]').waitFor({ state: 'detached' });
}

/** No finding of the accessibility checker, WCAG 2.2 AA among them, and nothing wider than the window, when the page has come. */
export async function expectAccessible(page: Page): Promise<void> {
  await hasCome(page);
  // The one rule of 2.2 is off unless it is asked for.
  const options = { rules: { 'target-size': { enabled: true } } };
  const { violations } = await new AxeBuilder({ page }).options(options).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
  expect(found).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
}
