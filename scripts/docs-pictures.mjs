/**
 * npm run docs:pictures [FOLDER]: the pictures of docs/portal.md, taken with Chromium from the demo's own portal while it
 * is used as the page says. They are committed, so that a reader of the sources sees them, too.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './run.mjs';

const target = resolve(process.argv[2] ?? join(root, 'docs/pictures'));
const chromiumProgram = process.env.CHROMIUM || '/usr/bin/chromium';
const FAILING = `-c 'echo "reading events.txt"; echo "events.txt: no such file" >&2; exit 3'`;

/** A demo with a home of its own; answers its link for newcomers when its walk is over. */
async function startDemo(home) {
  const env = { ...process.env, GRID_HOME: home, GRID_PORT: process.env.GRID_PORT || '9443' };
  const child = spawn(process.execPath, [join(root, 'scripts/demo.mjs')], { env, cwd: root });
  let shown = '';
  child.stderr.pipe(process.stderr);
  const link = await new Promise((found, failed) => {
    child.once('exit', (code) => failed(new Error(`the demo has ended with ${code}\n${shown}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
      const match = /Portal\s+(\S+\/portal\/demo\/\S+)/.exec(shown);
      if (match) found(match[1]);
    });
  });
  child.removeAllListeners('exit');
  return { child, link };
}

async function takePictures(page, link) {
  page.setDefaultTimeout(120_000); // also where the machine is busy
  const take = (name) => page.screenshot({ path: join(target, `${name}.png`) });
  const button = (name) => page.getByRole('button', { name }).first();
  await page.goto(link);
  await button('Sign in').click();
  await button('Continue as Alice').waitFor();
  await take('continue');
  await button('Continue as Alice').click();
  await button('Allow').click();
  await page.getByRole('link', { name: 'New job' }).first().click();
  await button('Draw a picture').click();
  await take('new-job');
  await button('Submit').click();
  await page.getByRole('img', { name: 'Picture spiral.svg' }).waitFor();
  await page.waitForFunction(`document.querySelector('.pictures img')?.naturalWidth > 0`);
  await take('job');
  await failedJob(page);
  await take('failure');
  await page.goto(`${new URL(link).origin}/portal/#/jobs`);
  await page.getByRole('cell', { name: 'histogram' }).waitFor();
  await take('jobs');
  await page.goto(`${new URL(link).origin}/portal/#/catalogue`);
  await page.getByText('/vo').first().waitFor();
  await take('catalogue');
}

/** A job that fails, typed into the form. */
async function failedJob(page) {
  await page.getByRole('link', { name: 'New job' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('histogram');
  await page.getByLabel('Program', { exact: true }).fill('/bin/sh');
  await page.getByLabel('Arguments', { exact: true }).fill(FAILING);
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByRole('heading', { name: /^Why it failed/ }).waitFor();
}

const home = mkdtempSync(join(tmpdir(), 'gridgate-pictures-'));
mkdirSync(target, { recursive: true });
let demo;
let browser;
try {
  demo = await startDemo(join(home, 'grid'));
  browser = await chromium.launch({ executablePath: chromiumProgram, args: ['--no-sandbox'] });
  const page = await browser.newPage({
    ignoreHTTPSErrors: true, // the CA of the demo is not the browser's
    colorScheme: 'light',
    viewport: { width: 1180, height: 760 },
  });
  await takePictures(page, demo.link);
} finally {
  await browser?.close();
  if (demo && demo.child.exitCode === null) {
    demo.child.kill('SIGTERM');
    await once(demo.child, 'exit');
  }
  rmSync(home, { recursive: true, force: true });
}
