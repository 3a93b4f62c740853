import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { request as send } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as sendBy, FormData } from 'undici';
import { GridClient as TypedClient } from '#src/client/index.js';
import { CommandUser } from '../support/command.js';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const MEBIBYTE = 1024 * 1024;

/** What is said of an archive that is not as it was kept. */
const damaged = (detail: string): object => ({
  type: 'urn:gridgate:problem:sandbox.damaged',
  title: 'The stored sandbox is damaged',
  status: 500,
  detail,
  code: 'sandbox.damaged',
  instance: expect.any(String),
});
const ADVICE =
  'tell the administrators, who may have a copy of the sandbox store; without one the job must be run again';

describe('an archive that is damaged in the store', () => {
  let folder: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'damaged-'));
    grid = await startGrid({ env: { GRID_SANDBOX_STORE: folder } });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const stored = (tag: unknown): string => {
    const hash = String(tag).slice(1, -1);
    return join(folder, hash.slice(0, 2), `${hash}.tar.gz`);
  };

  /** A job whose output has been read by nobody, and the file of its archive. */
  const ended = async (text: string): Promise<{ jid: number; path: string; size: number }> => {
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/echo', Arguments: text }]);
    await awaitFinal(alice, [jid]);
    const { headers } = await alice.head(`/jobs/${jid}/outputsandbox`);
    const path = stored(headers['etag']);
    return { jid, path, size: (await stat(path)).size };
  };

  const expectTold = async (
    jid: number,
    { code, detail }: { code: string; detail: string },
  ): Promise<void> => {
    const user = new CommandUser(await mkdtemp(join(folder, 'home-')));
    await user.login(grid);
    const said = await user.run(['output', String(jid)]);
    expect(said).toEqual({ code: 3, stdout: '', stderr: `gridgate: ${detail}\n` });
    const one = await user.run(['cp', `${jid}:std.out`, '.']);
    expect(one.stderr).toContain(detail);
    const agent = new Agent({ connect: { ca: grid.ca } });
    const fetch = ((input: string, init: object) =>
      sendBy(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;
    const typed = new TypedClient({ url: grid.url, token: alice.token ?? '', fetch });
    await expect(typed.getOutputSandbox(jid)).rejects.toMatchObject({
      ...{ status: 500, code, message: detail, retryAfter: undefined },
    });
    await agent.destroy();
  };

  it.each([0, 40])('is refused before the answer begins when %i bytes are left', async (left) => {
    const { jid, path, size } = await ended(`left ${left}`);
    await truncate(path, left);
    const detail = `The stored outputsandbox of job ${jid} is damaged: ${left} bytes are there, and ${size} were kept; ${ADVICE}`;
    for (const what of ['outputsandbox', 'outputsandbox/files/std.out', 'output/std.out']) {
      const answer = await alice.get(`/jobs/${jid}/${what}`);
      expect([answer.status, answer.headers['content-type']]).toEqual([
        500,
        'application/problem+json',
      ]);
      expect(answer.body).toEqual(damaged(detail));
    }
    const part = await alice.get(`/jobs/${jid}/outputsandbox`, {
      headers: { range: `bytes=${size - 2}-` },
    });
    expect(part.body).toEqual(damaged(detail));
    expect((await alice.head(`/jobs/${jid}/outputsandbox`)).status).toBe(500);
    expect((await alice.get(`/jobs/${jid}`)).body.flags.retrieved).toBe(false);
  });

  it('is refused for good when it is not there any more, and is told by the command and the client', async () => {
    const { jid, path } = await ended('missing');
    await rm(path);
    const detail = `The stored outputsandbox of job ${jid} is not in the store any more; ${ADVICE}`;
    const missing = {
      ...{ type: 'urn:gridgate:problem:sandbox.missing', title: 'The stored sandbox is missing' },
      ...{ status: 500, detail, code: 'sandbox.missing', instance: expect.any(String) as string },
    };
    for (const what of ['outputsandbox', 'outputsandbox/files/std.out', 'output/std.out']) {
      const answer = await alice.get(`/jobs/${jid}/${what}`);
      expect([answer.status, answer.headers['retry-after']]).toEqual([500, undefined]);
      expect(answer.body).toEqual(missing);
    }
    expect((await alice.head(`/jobs/${jid}/outputsandbox`)).status).toBe(500);
    expect((await alice.get(`/jobs/${jid}`)).body.flags.retrieved).toBe(false);
    await expectTold(jid, { code: 'sandbox.missing', detail });
  });

  it('of the input says that the job must be submitted again', async () => {
    const form = new FormData();
    form.append('manifest', JSON.stringify({ Executable: '/bin/true' }));
    form.append('one', new File(['1'], 'one'));
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    const [jid = 0] = body.jids;
    await awaitFinal(alice, [jid]);
    await rm(stored((await alice.head(`/jobs/${jid}/inputsandbox`)).headers['etag']));
    const answer = await alice.get(`/jobs/${jid}/inputsandbox`);
    const again = ADVICE.replace('run again', 'submitted again');
    expect([answer.status, answer.body.detail]).toEqual([
      ...[500, `The stored inputsandbox of job ${jid} is not in the store any more; ${again}`],
    ]);
  });

  it('is waited for while the whole store is away', async () => {
    const { jid } = await ended('away');
    await rename(folder, `${folder}.away`);
    const answers = [];
    for (const isEmpty of [false, true]) {
      if (isEmpty) await mkdir(folder);
      const { status, headers, body } = await alice.get(`/jobs/${jid}/outputsandbox`);
      answers.push([status, headers['retry-after'], body.code, body.detail]);
    }
    await rmdir(folder);
    await rename(`${folder}.away`, folder);
    const away = [
      503,
      '2',
      'service.unavailable',
      'The sandbox store is away: its directory is empty or not there',
    ];
    expect(answers).toEqual([away, away]);
    expect((await alice.get(`/jobs/${jid}/outputsandbox`)).status).toBe(200);
  });

  it('is refused when a single file is asked for and other bytes are there', async () => {
    const { jid, path, size } = await ended('other bytes');
    await writeFile(path, Buffer.alloc(size));
    const answer = await alice.get(`/jobs/${jid}/outputsandbox/files/std.out`);
    expect(answer.body).toEqual(
      damaged(
        `The stored outputsandbox of job ${jid} is damaged: its bytes are not those that were kept; ${ADVICE}`,
      ),
    );
  });

  it('ends the connection when it gets shorter while it is sent', async () => {
    const form = new FormData();
    form.append('manifest', JSON.stringify({ Executable: '/bin/true' }));
    form.append('large', new File([randomBytes(48 * MEBIBYTE)], 'large'));
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    const url = `${grid.url}/jobs/${body.jids[0]}/inputsandbox`;
    const headers = { authorization: `Bearer ${alice.token}` };
    const call = send(url, { ca: grid.ca, headers }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    await once(answer, 'readable');
    await truncate(stored(answer.headers.etag), MEBIBYTE);
    const whole = createHash('sha256');
    const reading = (async () => {
      for await (const chunk of answer) whole.update(chunk as Buffer);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'ECONNRESET' });
    await eventually(
      () => Promise.resolve(/\d+ of its bytes went away while it was sent/.test(grid.server.log())),
      'the line of the log',
    );
  });

  it('fails the job whose input it is', async () => {
    const form = new FormData();
    form.append('manifest', JSON.stringify({ Executable: '/bin/true', Tags: ['later'] }));
    form.append('data', new File(['input of a job that is never run\n'], 'data'));
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    const [jid = 0] = body.jids;
    await awaitStatus(alice, jid, ['Waiting']);
    await truncate(stored((await alice.head(`/jobs/${jid}/inputsandbox`)).headers['etag']), 40);
    await grid.sql(`update jobs set tags = '{}' where jid = $1`, [jid]);
    const [job] = await awaitFinal(alice, [jid]);
    expect([job?.status, job?.minorStatus, job?.appStatus]).toEqual([
      ...['Failed', 'Failed Downloading InputSandbox', 'It cannot be unpacked'],
    ]);
  });

  it('is told by the command and the client', async () => {
    const { jid, path, size } = await ended('told');
    await truncate(path, 7);
    const detail = `The stored outputsandbox of job ${jid} is damaged: 7 bytes are there, and ${size} were kept; ${ADVICE}`;
    await expectTold(jid, { code: 'sandbox.damaged', detail });
  });
});
