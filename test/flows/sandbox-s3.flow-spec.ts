import { createHash, randomBytes } from 'node:crypto';
import {
  CreateBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FormData } from 'undici';
import { awaitStatus, sandboxOf, show, submit, unpack } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { startObjectStore, type ObjectStore } from '../support/radosgw/object-store.js';
import { radosgwFault } from '../support/radosgw/packages.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const fault = radosgwFault();
const need = { met: fault === undefined, name: `a Ceph radosgw (${fault ?? ''})` };
const BUCKET = 'grid';
/** What the log says of a bucket that refuses. */
const NO_ANSWER = 'the sandbox store does not answer as it should';
const UNAVAILABLE = {
  type: expect.any(String),
  title: 'Service temporarily unavailable',
  status: 503,
  detail: 'the sandbox store does not answer as it should',
  code: 'service.unavailable',
  instance: expect.any(String),
};

describeWith(need)('sandboxes in a real S3 store', () => {
  let store: ObjectStore;
  let s3: S3Client;
  let env: Record<string, string>;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    store = await startObjectStore();
    const { accessKey, secretKey } = store.keys;
    s3 = new S3Client({
      endpoint: store.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    });
    await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
    env = {
      GRID_SANDBOX_STORE: `s3://${BUCKET}/some/prefix`,
      GRID_S3_ENDPOINT: store.url,
      GRID_S3_ACCESS_KEY: accessKey,
      GRID_S3_SECRET_KEY: secretKey,
      GRID_S3_TIMEOUT: '5',
      GRID_MAX_SANDBOX: String(64 * 1024 * 1024),
    };
    grid = await startGrid({ env });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    await grid?.remove();
    s3?.destroy();
    await store?.stop();
  });

  const keys = async (): Promise<string[]> => {
    const answer = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    return (answer.Contents ?? []).map((item) => item.Key ?? '');
  };

  const sendFiles = (files: Record<string, string | Buffer>) => {
    const form = new FormData();
    const outputs = ['std.out', 'std.err'];
    const manifest = { Executable: '/bin/cat', Arguments: 'data', OutputSandbox: outputs };
    form.append('manifest', JSON.stringify(manifest));
    for (const [name, content] of Object.entries(files)) {
      form.append(name, new Blob([content]), name);
    }
    return alice.post<{ jids: number[]; code?: string }>('/jobs', { multipart: form });
  };

  const again = async (more: Record<string, string>): Promise<void> => {
    await grid.stop();
    grid = await grid.again({ ...env, ...more });
    alice = await grid.as('alice');
  };

  it('keeps input and output of a job as objects named by their content', async () => {
    const before = await keys();
    const answer = await sendFiles({ data: 'some input\n' });
    expect(answer.status).toBe(200);
    const [jid = 0] = answer.body.jids;
    await awaitStatus(alice, jid, ['Done']);
    expect(await sandboxOf(alice, jid, 'input')).toEqual({ data: 'some input\n' });
    expect(await sandboxOf(alice, jid)).toEqual({ 'std.out': 'some input\n', 'std.err': '' });
    const download = await alice.get(`/jobs/${jid}/inputsandbox`);
    const hash = createHash('sha256').update(download.bytes).digest('hex');
    expect(download.headers['etag']).toBe(`"${hash}"`);
    const added = (await keys()).filter((key) => !before.includes(key));
    expect(added).toHaveLength(2);
    expect(added).toContain(`some/prefix/${hash.slice(0, 2)}/${hash}.tar.gz`);
  });

  it('answers byte ranges and single files, and keeps the same content once', async () => {
    const [first = 0] = (await sendFiles({ data: 'twice\n' })).body.jids;
    const before = await keys();
    const [second = 0] = (await sendFiles({ data: 'twice\n' })).body.jids;
    const whole = await alice.get(`/jobs/${first}/inputsandbox`);
    const part = await alice.get(`/jobs/${second}/inputsandbox`, {
      headers: { range: 'bytes=10-19' },
    });
    expect(part.status).toBe(206);
    expect(part.headers['content-range']).toBe(`bytes 10-19/${whole.bytes.length}`);
    expect(part.bytes).toEqual(whole.bytes.subarray(10, 20));
    const file = await alice.get(`/jobs/${second}/inputsandbox/files/data`);
    expect(file.bytes.toString()).toBe('twice\n');
    const added = (await keys()).filter((key) => !before.includes(key));
    expect(added.filter((key) => key.includes(String(whole.headers['etag']).slice(1, -1)))).toEqual(
      [],
    );
  });

  it('sends a large archive in parts and gives it back whole', async () => {
    const large = randomBytes(24 * 1024 * 1024);
    const [jid = 0] = (await sendFiles({ data: 'small', large })).body.jids;
    const download = await alice.get(`/jobs/${jid}/inputsandbox`);
    expect(download.bytes.length).toBeGreaterThan(20_000_000);
    const hash = createHash('sha256').update(download.bytes).digest('hex');
    expect(download.headers['etag']).toBe(`"${hash}"`);
  });

  it('redirects downloads to a presigned URL when it is told to', async () => {
    const [jid = 0] = (await sendFiles({ data: 'signed\n' })).body.jids;
    await again({ GRID_S3_PRESIGN: 'true' });
    const answer = await alice.get(`/jobs/${jid}/inputsandbox`);
    expect(answer.status).toBe(307);
    const url = String(answer.headers['location']);
    const direct = await fetch(url);
    expect(direct.status).toBe(200);
    expect(direct.headers.get('content-type')).toBe('application/gzip');
    expect(direct.headers.get('content-disposition')).toBe(
      `attachment; filename="${jid}-inputsandbox.tar.gz"`,
    );
    expect(await unpack(Buffer.from(await direct.arrayBuffer()))).toEqual({ data: 'signed\n' });
    const other = url.replace(/(?<=X-Amz-Signature=)./, (sign) => (sign === '0' ? '1' : '0'));
    const forged = await fetch(other);
    const anonymous = await fetch(url.slice(0, url.indexOf('?')));
    expect([forged.status, anonymous.status]).toEqual([403, 403]);
    const bob = await (await grid.as('bob')).get(`/jobs/${jid}/inputsandbox`);
    expect([bob.status, bob.headers['location']]).toEqual([403, undefined]);
    await again({ GRID_S3_PRESIGN: 'false' });
  });

  it('tells of an object that is shorter than it was, also where it would redirect', async () => {
    const [jid = 0] = (await sendFiles({ data: 'cut\n' })).body.jids;
    const { headers } = await alice.get(`/jobs/${jid}/inputsandbox`);
    const hash = String(headers['etag']).slice(1, -1);
    const Key = `some/prefix/${hash.slice(0, 2)}/${hash}.tar.gz`;
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'short' }));
    const told = {
      type: 'urn:gridgate:problem:sandbox.damaged',
      title: 'The stored sandbox is damaged',
      status: 500,
      detail: `The stored inputsandbox of job ${jid} is damaged: 5 bytes are there, and ${String(headers['content-length'])} were kept; tell the administrators, who may have a copy of the sandbox store; without one the job must be submitted again`,
      code: 'sandbox.damaged',
      instance: expect.any(String),
    };
    const range = { headers: { range: 'bytes=20-29' } };
    expect((await alice.get(`/jobs/${jid}/inputsandbox`)).body).toEqual(told);
    expect((await alice.get(`/jobs/${jid}/inputsandbox`, range)).body).toEqual(told);
    expect((await alice.get(`/jobs/${jid}/inputsandbox/files/data`)).body).toEqual(told);
    await again({ GRID_S3_PRESIGN: 'true' });
    expect((await alice.get(`/jobs/${jid}/inputsandbox`)).body).toEqual(told);
    await again({ GRID_S3_PRESIGN: 'false' });
  });

  it('answers 503 when the store refuses the key, and loses nothing', async () => {
    const [jid = 0] = (await sendFiles({ data: 'kept\n' })).body.jids;
    await awaitStatus(alice, jid, ['Done']);
    expect(grid.server.log()).not.toContain(NO_ANSWER);
    await again({ GRID_S3_SECRET_KEY: 'wrong' });
    expect(grid.server.log()).toContain(NO_ANSWER); // before anybody has asked
    const before = (await alice.get('/jobs')).body.entries as number;
    const refused = await sendFiles({ data: 'not kept\n' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
    expect(refused.body).toEqual(UNAVAILABLE);
    expect((await alice.get('/jobs')).body.entries).toBe(before);
    const download = await alice.get(`/jobs/${jid}/outputsandbox`);
    expect(download.status).toBe(503);
    expect(download.body).toEqual(UNAVAILABLE);
    await again({});
    expect(await sandboxOf(alice, jid)).toEqual({ 'std.out': 'kept\n', 'std.err': '' });
  });

  it('keeps the output of jobs that end while the store is away until it is back', async () => {
    const [jid = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', 'echo late'], Sites: ['LOCAL.demo'] },
    ]);
    await awaitStatus(alice, jid, ['Done']);
    await store.killGateway();
    const answer = await alice.get(`/jobs/${jid}/outputsandbox`);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([
      503,
      'service.unavailable',
    ]);
    const [late = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', 'echo later'], Sites: ['LOCAL.demo'] },
    ]);
    await awaitStatus(alice, late, ['Running']);
    await store.startGateway();
    await awaitStatus(alice, late, ['Done']);
    expect((await show(alice, late)).minorStatus).toBe('Execution Complete');
    expect(await sandboxOf(alice, late)).toEqual({ 'std.out': 'later\n', 'std.err': '' });
  });
});
