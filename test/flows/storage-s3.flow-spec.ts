import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Route } from 'playwright-core';
import { fetch } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { expectAccessible, profile, signInToPortal, startBrowser } from '../support/browser.js';
import { bulk } from '../support/catalogue/events.js';
import { CommandUser } from '../support/command.js';
import { FullLog } from '../support/full-log.js';
import { awaitFinal, sandboxOf, submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { startObjectStore, type ObjectStore } from '../support/radosgw/object-store.js';
import { radosgwFault } from '../support/radosgw/packages.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const fault = radosgwFault();
const need = { met: fault === undefined, name: `a Ceph radosgw (${fault ?? ''})` };
const NAME = 'a b/ü+100%';
const TEXT = 'bytes of the file';

describeWith(need)('files of the catalogue in a real S3 store', () => {
  let store: ObjectStore;
  let s3: S3Client;
  let directory: string;
  let keys: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    store = await startObjectStore();
    const { accessKey: accessKeyId, secretKey: secretAccessKey } = store.keys;
    s3 = new S3Client({
      ...{ endpoint: store.url, region: 'us-east-1', forcePathStyle: true },
      credentials: { accessKeyId, secretAccessKey },
    });
    await s3.send(new CreateBucketCommand({ Bucket: 'files' }));
    for (const name of [NAME, 'other']) {
      const object = { Bucket: 'files', Key: `some/prefix/in/${name}`, Body: TEXT };
      await s3.send(new PutObjectCommand(object));
    }
    directory = await mkdtemp(join(tmpdir(), 'gridgate-s3-'));
    keys = join(directory, 'keys');
    await writeKeys(accessKeyId, secretAccessKey);
    const element = { kind: 's3', vos: ['vo'], credentialsFile: keys } as const;
    const url = `${store.url}/files/some/prefix`;
    const registry = join(directory, 'r.yaml');
    const storageElements = [{ name: 'SE-S3', url, ...element }];
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    grid = await startGrid({ env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' } });
    alice = await grid.as('alice');
    const files = ['/vo/in/other', `/vo/in/${NAME}`];
    await bulk(
      alice,
      ...files.map((path) => ({ kind: 'file', path, size: 17, replicas: [{ se: 'SE-S3' }] })),
    );
  });

  afterAll(async () => {
    await grid?.remove();
    s3?.destroy();
    await store?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  async function writeKeys(id: string, secret: string): Promise<void> {
    const lines = ['[default]', `aws_access_key_id = ${id}`, `aws_secret_access_key = ${secret}`];
    await writeFile(keys, `${lines.join('\n')}\n`, { mode: 0o600 });
  }

  const access = (more: object = {}): Promise<Answer> =>
    alice.post('/filecatalogue/access', {
      json: { paths: [`/vo/in/${NAME}`], right: 'read', ...more },
    });

  it('are read by a signed address, in parts too, and so is nothing else', async () => {
    const { status, body } = await access({ seconds: 60, presigned: true });
    const url = `${store.url}/files/some/prefix/in/a%20b/%C3%BC%2B100%25`;
    expect([status, body]).toEqual([
      200,
      [
        {
          ...{ path: `/vo/in/${NAME}`, se: 'SE-S3', url, size: 17, checksum: {} },
          ...{ presigned: expect.stringContaining(`${url}?`), expires: expect.any(String) },
        },
      ],
    ]);
    const { presigned } = body[0];
    expect(new URL(presigned).searchParams.get('X-Amz-Expires')).toMatch(/^(59|60)$/);
    expect(presigned).not.toContain('checksum');
    expect(await (await fetch(presigned)).text()).toBe(TEXT);
    const part = await fetch(presigned, { headers: { range: 'bytes=9-11' } });
    expect([part.status, await part.text()]).toEqual([206, 'the']);
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(presigned, { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await fetch(presigned, { method: 'DELETE' })).status).toBe(403);
    const other = presigned.replace('a%20b/%C3%BC%2B100%25', 'other');
    expect((await fetch(other)).status).toBe(403);
    const log = JSON.stringify(new FullLog(grid).lines());
    const signature = new URL(presigned).searchParams.get('X-Amz-Signature') ?? '';
    for (const secret of [signature, store.keys.accessKey, store.keys.secretKey]) {
      expect(log).not.toContain(secret);
    }
  });

  it('are at the jobs that have them as input data', async () => {
    const [jid = 0] = await submit(alice, [
      {
        ...{ Executable: '/bin/sh', Arguments: ['-c', "cat other 'ü+100%'; env; cat *.json"] },
        InputData: ['/vo/in/other', `/vo/in/${NAME}`],
      },
    ]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    const output = (await sandboxOf(alice, jid))['std.out'] ?? '';
    expect(output.slice(0, 2 * TEXT.length)).toBe(TEXT + TEXT);
    expect(output).not.toContain('X-Amz');
    expect(JSON.stringify(new FullLog(grid).lines())).not.toContain('X-Amz-Signature=');
  });

  it('are read by their path, by a redirect or through the service', async () => {
    const encoded = Buffer.from(`/vo/in/${NAME}`).toString('base64url');
    const at = `/filecatalogue/file/${encoded}/content`;
    const redirect = await alice.get(at);
    expect(redirect.status).toBe(307);
    const location = String(redirect.headers['location']);
    expect(await (await fetch(location)).text()).toBe(TEXT);
    const query = { through: 'true' };
    expect((await alice.get(at, { query })).bytes.toString()).toBe(TEXT);
    const part = await alice.get(at, { query, headers: { range: 'bytes=9-11' } });
    expect([part.status, part.bytes.toString()]).toEqual([206, 'the']);
    expect((await alice.head(at)).headers['content-length']).toBe('17');
    const signature = new URL(location).searchParams.get('X-Amz-Signature') ?? '';
    expect(new FullLog(grid).text).not.toContain(signature);
  });

  it('are signed with the keys that stand in the file now', async () => {
    await writeKeys('AKOTHER', 'other');
    const { body } = await access();
    expect((await fetch(body[0].presigned)).status).toBe(403);
    await writeFile(keys, '[default]\n');
    const none = await access();
    expect([none.status, none.body.detail]).toEqual([
      503,
      'The file with the keys of SE-S3 has none',
    ]);
    await rm(keys);
    const gone = await access();
    expect([gone.status, gone.body.detail]).toEqual([503, 'The keys of SE-S3 cannot be read']);
    expect(JSON.stringify(gone.body)).not.toContain(directory);
    await writeKeys(store.keys.accessKey, store.keys.secretKey);
    expect((await fetch((await access()).body[0].presigned)).status).toBe(200);
  });

  it('take files of the command, once, and nothing but what was said of them', async () => {
    const user = new CommandUser(join(directory, 'home'));
    await mkdir(user.home);
    expect((await user.login(grid, 'alice')).code).toBe(0);
    await writeFile(join(user.home, 'f'), TEXT);
    const put = (path: string) => user.run(['catalogue', 'put', 'f', path]);
    expect(await put('/vo/in/new/a ü')).toEqual({
      ...{ code: 0, stdout: 'f is /vo/in/new/a ü at SE-S3\n', stderr: '' },
    });
    const got = await user.run(['catalogue', 'get', '/vo/in/new/a ü', '-']);
    expect([got.code, got.stdout]).toEqual([0, TEXT]);
    const path = '/vo/in/new/other';
    const content = { size: TEXT.length, md5: createHash('md5').update(TEXT).digest('hex') };
    const { body } = await access({ paths: [path], right: 'create', contents: [content] });
    const [{ presigned, headers }] = body;
    const send = async (text: string, more: object = headers): Promise<number> =>
      (await fetch(presigned, { method: 'PUT', body: text, headers: { ...more } })).status;
    expect(await send(TEXT, {})).toBe(403);
    expect(await send(`${TEXT}x`)).toBe(403);
    expect(await send(TEXT.replace('b', 'B'))).toBe(400);
    expect(await send(TEXT)).toBe(200);
    expect(await send(TEXT)).toBe(412);
    await grid.sql('update catalogue_bytes set due_at = now(), removals = 1');
    await eventually(
      async () => (await grid.sql('select from catalogue_bytes')).length === 0,
      'the removal',
    );
    const key = { Bucket: 'files', Key: 'some/prefix/in/new/other' };
    await expect(s3.send(new HeadObjectCommand(key))).rejects.toThrow();
    expect((await put(path)).code).toBe(0);
  });

  it('are stored by jobs, and nothing is overwritten', async () => {
    const store = async (command: string, OutputPath = '/vo/in/jobs'): Promise<any> => {
      const [jid = 0] = await submit(alice, [
        {
          ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputData: ['a ü', '*.txt'] },
          ...{ OutputPath, OutputSE: 'SE-S3' },
        },
      ]);
      return (await awaitFinal(alice, [jid]))[0];
    };
    const command = `printf '${TEXT}' | tee 1.txt > 'a ü'; env`;
    expect(await store(command)).toMatchObject({ status: 'Done' });
    for (const name of ['a ü', '1.txt']) {
      const encoded = Buffer.from(`/vo/in/jobs/${name}`).toString('base64url');
      const query = { through: 'true' };
      const { bytes } = await alice.get(`/filecatalogue/file/${encoded}/content`, { query });
      expect(bytes.toString()).toBe(TEXT);
    }
    expect(await store(command)).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
      appStatus: expect.stringContaining('/vo/in/jobs/a ü is a file'),
    });
    const key = { Bucket: 'files', Key: 'some/prefix/in/else/1.txt' };
    await s3.send(new PutObjectCommand({ ...key, Body: 'of somebody' }));
    expect(await store(command, '/vo/in/else')).toMatchObject({
      appStatus: expect.stringContaining(
        'something lies at SE-S3 where /vo/in/else/1.txt would be',
      ),
    });
    const kept = await s3.send(new GetObjectCommand(key));
    expect(await kept.Body?.transformToString()).toBe('of somebody');
    expect(JSON.stringify(new FullLog(grid).lines())).not.toContain('X-Amz-Signature=');
  });

  describeWith({ met: has('chromium'), name: 'Chromium' })('in the portal', () => {
    it('are uploaded once the store lets its page', async () => {
      const browser = await startBrowser();
      try {
        const context = await profile(browser, grid, { name: 'alice' });
        const page = await context.newPage();
        await signInToPortal(page, grid, '#/catalogue?at=/vo/in/new');
        const upload = async (text: string): Promise<void> => {
          const file = { name: 'of mine ü', mimeType: 'text/plain', buffer: Buffer.from(text) };
          await page.getByLabel('File of yours').setInputFiles([file]);
          await page.getByRole('button', { name: 'Upload file' }).click();
        };
        await page.getByText('Upload a file, make a directory').click();
        const large = 'of mine '.repeat(1_000_000);
        await upload(large);
        await page.getByText('SE-S3 cannot be reached, or does not let this page upload').waitFor();
        const { origin } = new URL(grid.url);
        const rule = { AllowedOrigins: [origin], AllowedMethods: ['PUT'], AllowedHeaders: ['*'] };
        const CORSConfiguration = { CORSRules: [rule] };
        await s3.send(new PutBucketCorsCommand({ Bucket: 'files', CORSConfiguration }));
        await page.getByRole('button', { name: 'Upload file' }).click();
        await page.getByRole('link', { name: 'of mine ü' }).waitFor();
        const encoded = Buffer.from('/vo/in/new/of mine ü').toString('base64url');
        const { body } = await alice.get(`/filecatalogue/file/${encoded}/attributes`);
        const Checksum = createHash('md5').update(large).digest('hex');
        expect(body).toMatchObject({ Size: large.length, Checksum, ChecksumType: 'MD5' });
        const query = { through: 'true' };
        const { bytes } = await alice.get(`/filecatalogue/file/${encoded}/content`, { query });
        expect(bytes.toString() === large).toBe(true);
        await expectAccessible(page);
        await page.getByText('Upload a file, make a directory').click();
        await upload('another');
        await page.getByText('/vo/in/new/of mine ü is a file already: choose another').waitFor();
        await expectAccessible(page);
      } finally {
        await browser.close();
      }
    });

    it('are registered by another try, from a page that does not know that they are sent', async () => {
      const browser = await startBrowser();
      try {
        const context = await profile(browser, grid, { name: 'alice' });
        const page = await context.newPage();
        await signInToPortal(page, grid, '#/catalogue?at=/vo/in/new');
        const upload = async (): Promise<void> => {
          await page.getByText('Upload a file, make a directory').click();
          const file = { name: 'sent', mimeType: 'text/plain', buffer: Buffer.from('sent') };
          await page.getByLabel('File of yours').setInputFiles([file]);
          await page.getByRole('button', { name: 'Upload file' }).click();
        };
        const abort = { times: 1 };
        await page.route('**/filecatalogue/file/*', (route) => route.abort(), abort);
        await upload();
        await page.getByRole('alert').waitFor();
        await page.reload();
        await upload();
        await page.getByRole('link', { name: 'sent' }).waitFor();
        const encoded = Buffer.from('/vo/in/new/sent').toString('base64url');
        const query = { through: 'true' };
        const { bytes } = await alice.get(`/filecatalogue/file/${encoded}/content`, { query });
        expect(bytes.toString()).toBe('sent');
      } finally {
        await browser.close();
      }
    });

    it('are stopped, or go on when their page is left and tell how they ended', async () => {
      const browser = await startBrowser();
      try {
        const context = await profile(browser, grid, { name: 'alice' });
        const page = await context.newPage();
        await signInToPortal(page, grid, '#/catalogue?at=/vo/in/new');
        await page.getByText('Upload a file, make a directory').click();
        const held: Route[] = [];
        const puts = (url: URL): boolean => url.searchParams.has('X-Amz-Signature');
        const upload = async (name: string): Promise<void> => {
          await page.route(puts, (route) => void held.push(route));
          const file = { name, mimeType: 'text/plain', buffer: Buffer.from(name) };
          await page.getByLabel('File of yours').setInputFiles([file]);
          await page.getByRole('button', { name: 'Upload file' }).click();
          await eventually(() => Promise.resolve(held.length > 0), 'the upload to begin');
        };
        await upload('slow');
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Stop the upload of /vo/in/new/slow' }).click();
        await page.getByRole('alert').getByText('The upload was stopped: nothing is').waitFor();
        held.length = 0;
        await upload('slow');
        const asked = page.waitForEvent('dialog');
        await page.close({ runBeforeUnload: true });
        expect((await asked).type()).toBe('beforeunload');
        await (await asked).dismiss();
        await page.getByRole('link', { name: 'Usage', exact: true }).click();
        await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
        const uploads = page.getByRole('region', { name: 'Uploads' });
        await uploads.getByRole('button', { name: 'Stop the upload of /vo/in/new/slow' }).waitFor();
        await expectAccessible(page);
        await page.unroute(puts); // what was held goes on
        await uploads.getByText('/vo/in/new/slow is uploaded.').waitFor();
        await expectAccessible(page);
        await uploads.getByRole('button', { name: /^Close/ }).click();
        await uploads.waitFor({ state: 'hidden' });
        const encoded = Buffer.from('/vo/in/new/slow').toString('base64url');
        const query = { through: 'true' };
        const { bytes } = await alice.get(`/filecatalogue/file/${encoded}/content`, { query });
        expect(bytes.toString()).toBe('slow');
        await page.goto(`${grid.url}/portal/#/catalogue?at=/vo/in/new`);
        await page.getByText('Upload a file, make a directory').click();
        held.length = 0;
        await upload('lost');
        await page.getByRole('link', { name: 'Usage', exact: true }).click();
        await uploads.waitFor();
        await held[0]?.abort();
        await uploads.getByText('/vo/in/new/lost is not uploaded.').waitFor();
        await uploads.getByRole('alert').getByText('SE-S3 cannot be reached').waitFor();
        await expectAccessible(page);
      } finally {
        await browser.close();
      }
    });
  });
});
