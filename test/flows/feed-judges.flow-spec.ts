import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { signatureHeaders } from '../../src/webhooks/signature/signature.js';
import { startBrowser } from '../support/browser.js';
import { submit } from '../support/jobs.js';
import { describeWith, has, pythonWith } from '../support/missing.js';
import { freePort } from '../support/ports.mjs';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

const run = promisify(execFile);
const JOB = { Executable: '/bin/true' };

/** What somebody gets who verifies with the library of PyPI: the message, or the name of the exception. */
const JUDGE = `
import json, os
from standardwebhooks.webhooks import Webhook

def judge(call):
    try:
        return Webhook(call["secret"]).verify(call["text"], call["headers"])
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps([judge(call) for call in json.loads(os.environ["CALLS"])]))
`;

const python = pythonWith('venv, ensurepip');

describeWith({ met: python !== undefined, name: 'python3-venv' })(
  'standardwebhooks of PyPI',
  () => {
    let bed: WebhookTestbed;
    let alice: GridClient;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gridgate-judge-'));
      await run(python ?? 'python3', ['-m', 'venv', folder]);
      const words = ['-q', '--disable-pip-version-check', 'install', 'standardwebhooks==1.1.0'];
      await run(join(folder, 'bin/pip'), words, { env: process.env });
      bed = await WebhookTestbed.start();
      alice = await bed.grid.as('alice');
    });
    afterAll(async () => {
      await bed?.remove();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    });

    async function judged(calls: object[]): Promise<unknown[]> {
      const env = { ...process.env, CALLS: JSON.stringify(calls) };
      const { stdout } = await run(join(folder, 'bin/python'), ['-c', JUDGE], { env });
      return JSON.parse(stdout) as unknown[];
    }

    it('takes every delivery with either secret, and refuses what is forged, changed or old', async () => {
      const { id, secret } = await bed.add(alice);
      const { secret: fresh } = (await alice.post(`/webhooks/${id}/secret`)).body;
      const [jid = 0] = await submit(alice, [{ ...JOB, JobName: 'naïve – 名前' }]);
      await alice.delete(`/jobs/${jid}`);
      await alice.post(`/webhooks/${id}/test`);
      const messages = await bed.received(5);
      for (const one of [secret, fresh]) {
        const calls = messages.map((message) => ({ ...message, secret: one }));
        expect(await judged(calls)).toEqual(messages.map(({ body }) => body));
      }
      const [first] = messages;
      const old = { id: 'm', timestamp: new Date(Date.now() - 600_000), body: first!.text };
      const signed = signatureHeaders(old, [Buffer.from(secret.slice('whsec_'.length), 'base64')]);
      const forged = 'WebhookVerificationError: No matching signature found';
      expect(
        await judged([
          { ...first, secret: `whsec_${randomBytes(32).toString('base64')}` },
          { ...first, secret, text: `${first!.text} ` },
          { ...first, secret, headers: { ...first!.headers, 'webhook-id': 'another' } },
          { text: first!.text, headers: signed, secret },
        ]),
      ).toEqual([forged, forged, forged, 'WebhookVerificationError: Message timestamp too old']);
    });
  },
);

/** What the page does with an address. */
const LISTEN = `(url) => {
  globalThis.heard = [];
  globalThis.source = new EventSource(url);
  for (const event of ['job', 'left', 'position', 'end'])
    source.addEventListener(event, ({ data, lastEventId: id }) =>
      heard.push({ id, event, data: JSON.parse(data) }));
}`;

/** What the page keeps of one event. */
interface Heard {
  id: string;
  event: string;
  data: { jid?: number; status?: string; reason?: string };
}

describeWith({ met: has('chromium'), name: 'Chromium' })("Chromium's EventSource", () => {
  let grid: Grid;
  let browser: Browser;
  let page: Page;
  let token: string;

  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_PORT: String(await freePort()) };
    [grid, browser] = await Promise.all([startGrid({ env }), startBrowser()]);
    token = await grid.token('alice', 'grid_user');
    // Pages cannot give an EventSource a header; the browser gives it to all requests here.
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      extraHTTPHeaders: { Authorization: `Bearer ${token}` },
    });
    page = await context.newPage();
    await page.goto(`${grid.url}/jobs?maxJobs=1`);
  });
  afterAll(async () => {
    await browser?.close();
    await grid?.remove();
  });

  const watch = (path: string): Promise<unknown> =>
    page.evaluate(`(${LISTEN})(${JSON.stringify(path)})`);
  const heard = (): Promise<Heard[]> => page.evaluate('heard');
  const until = (isSo: (all: Heard[]) => boolean): Promise<Heard[]> =>
    eventually(async () => {
      const all = await heard();
      return isSo(all) && all;
    }, 'events in the browser');

  it('hears each move once and in order, over a kill of the service, and the end of its token', async () => {
    const alice = await grid.as('alice');
    const { headers } = await alice.get('/jobs');
    const [first = 0] = await submit(alice, [JOB]);
    await watch(`/jobs/events?after=${String(headers['grid-feed-position'])}`);
    await until((all) => all.length === 3);
    await grid.kill();
    grid = await grid.again();
    const again = await grid.as('alice');
    const [second = 0] = await submit(again, [JOB]);
    await again.delete(`/jobs/${first}`);
    const all = await until((some) => some.length >= 7);
    expect(all.map(({ event, data }) => `${event} ${data.jid} ${data.status}`)).toEqual([
      ...['Received', 'Checking', 'Waiting'].map((status) => `job ${first} ${status}`),
      ...['Received', 'Checking', 'Waiting'].map((status) => `job ${second} ${status}`),
      `job ${first} Killed`,
    ]);
    const ids = all.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    await grid.bearer(token).post('/oauth2/revoke', { form: { token } });
    const [last] = (await until((some) => some.length > 7)).slice(7);
    expect(last).toEqual({
      id: String(ids.at(-1)),
      event: 'end',
      data: { reason: 'the access token is not valid any more' },
    });
    // It asks once more, is refused, and gives up.
    await eventually(() => page.evaluate('source.readyState === EventSource.CLOSED'), 'its end');
  });
});
