import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, fetch as send } from 'undici';
import {
  beginSignIn,
  encodePath,
  finishSignIn,
  GridClient,
  GridError,
  moveFile,
  renewToken,
  signOut,
  type OutputEvent,
} from '#src/client/index.js';
import { formOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { CALLBACK, PORTAL } from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describe('gridgate/client', () => {
  let grid: Grid;
  let agent: Agent;
  let platformFetch: typeof fetch;
  let client: GridClient;

  beforeAll(async () => {
    grid = await startGrid();
    agent = new Agent({ connect: { ca: grid.ca } });
    platformFetch = ((input: string, init: object) =>
      send(input, { ...init, dispatcher: agent })) as unknown as typeof fetch;
    const token = await grid.token('alice', 'grid_user');
    client = new GridClient({ url: `${grid.url}/`, token, fetch: platformFetch });
  });
  afterAll(async () => {
    await agent?.destroy();
    await grid?.remove();
  });

  const failure = (work: Promise<unknown>): Promise<GridError> =>
    work.then(
      () => {
        throw new Error('it was expected to fail');
      },
      (error: unknown) => error as GridError,
    );

  it('submits, watches and reads the files of a job', async () => {
    const { jids } = (await client.submitJobs({
      Executable: '/bin/echo',
      Arguments: 'hello',
    })) as { jids: number[] };
    const jid = jids[0] ?? 0;
    await eventually(async () => (await client.getJob(jid)).status === 'Done', 'the job is Done');
    const { files } = await client.listOutputSandbox(jid);
    expect(files.map(({ name }) => name)).toContain('std.out');
    const out = await client.readOutputSandboxFile(jid, 'std.out');
    expect(await out.text()).toBe('hello\n');
    expect((await client.getOutputSandbox(jid)).size).toBeGreaterThan(50);
    expect(await client.summarizeJobs({ status: 'Done' })).toEqual({ Done: 1 });
  });

  it('follows the output of a job until it ends, and says what it cannot follow', async () => {
    const script = 'echo begun; sleep 1; echo done >&2; exit 3';
    const { jids } = (await client.submitJobs({
      Executable: '/bin/sh',
      Arguments: `-c "${script}"`,
    })) as { jids: number[] };
    const jid = jids[0] ?? 0;
    const events = async (name?: string): Promise<OutputEvent[]> => {
      const all: OutputEvent[] = [];
      for await (const event of client.followOutput(jid, name)) all.push(event);
      return all;
    };
    const end = { event: 'end', reason: 'job ended', status: 'Failed' };
    expect(await events()).toEqual([{ event: 'output', text: 'begun\n' }, end]);
    expect(await events('std.err')).toEqual([{ event: 'output', text: 'done\n' }, end]);
    const refused = await events('private').catch((error: unknown) => error as GridError);
    expect(refused).toMatchObject({ status: 404, code: 'job.no-such-file' });
  });

  it('watches jobs: goes on after an interruption, and lists again when the service has forgotten', async () => {
    const cuts: AbortController[] = [];
    let gate = Promise.resolve();
    const cutting = (async (input: string, init: RequestInit) => {
      if (!input.includes('/jobs/events')) return platformFetch(input, init);
      await gate;
      const cut = new AbortController();
      cuts.push(cut);
      const signal = AbortSignal.any([cut.signal, init.signal as AbortSignal]);
      return platformFetch(input, { ...init, signal });
    }) as typeof fetch;
    const token = await grid.token('alice', 'grid_user');
    const stop = new AbortController();
    const watching = new GridClient({ url: grid.url, token, fetch: cutting });
    const watch = watching.watchJobs({ name: 'watched' }, { signal: stop.signal });
    const take = async (): Promise<any> => (await watch.next()).value;
    expect(await take()).toEqual({ kind: 'list', isFirst: true, jobs: [] });
    const manifest = { Executable: '/bin/true', JobName: 'watched' };
    const { jids } = (await client.submitJobs(manifest)) as { jids: number[] };
    const seen = [await take()];
    cuts.at(-1)?.abort();
    while (seen.at(-1).job.status !== 'Done') seen.push(await take());
    expect(cuts.length).toBeGreaterThan(1);
    expect(new Set(seen.map(({ kind, job }) => `${kind} ${job.jid}`))).toEqual(
      new Set([`job ${jids[0]}`]),
    );
    const { history } = await client.getJobHistory(jids[0] ?? 0);
    expect(seen.map(({ job }) => [job.status, job.minorStatus])).toEqual(
      history.map((move: any) => [move.status, move.minorStatus]),
    );
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const next = take();
    cuts.at(-1)?.abort();
    await client.submitJobs(manifest);
    await eventually(async () => {
      const [row] = await grid.sql(`update event_positions set gone = position
        where source = 'jobs' and not exists (select from event_log where last is null)
          and (select count(*) from jobs where name = 'watched' and status = 'Done') = 2 returning gone`);
      return row !== undefined;
    }, 'the second job is Done and numbered');
    open();
    const listed = await next;
    expect([listed.kind, listed.isFirst, listed.jobs.length]).toEqual(['list', true, 2]);
    const waiting = take();
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('finds directories one by one, and reads numbers with a parser of the caller', async () => {
    const parsed: string[] = [];
    const parse = (text: string): unknown => {
      parsed.push(text);
      return JSON.parse(text);
    };
    const token = await grid.token('alice', 'grid_user');
    const careful = new GridClient({ url: grid.url, token, fetch: platformFetch, parse });
    const found = [];
    for await (const one of careful.findDirectories('/vo', { energy: '>|50', particle: 'in|e' })) {
      found.push(one);
    }
    expect(found.map(({ path }) => path)).toEqual(['/vo/a', '/vo/a/run1', '/vo/a/run2']);
    expect(parsed.map((line) => JSON.parse(line) as object)).toEqual(found);
    const nowhere = careful.findDirectories('/nowhere').next();
    expect(await failure(nowhere)).toMatchObject({
      status: 404,
      code: 'catalogue.directory-not-found',
    });
  });

  it('walks all jobs through the pages of the service', async () => {
    const manifests = Array.from({ length: 7 }, (_, n) => ({
      Executable: '/bin/true',
      JobName: `walk-${n}`,
      JobGroup: 'walk',
    }));
    await client.submitJobs({ manifests });
    const names: string[] = [];
    for await (const job of client.walkJobs({ jobGroup: ['walk'], maxJobs: 3 }))
      names.push(job.name);
    expect(names).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `walk-${n}`));
  });

  it('passes conditions as the service reads them', async () => {
    const tree = await client.searchDirectory(encodePath('/vo'), {
      conditions: { particle: 'in|e', run: ['>=|1', '<=|1'] },
    });
    expect(tree).toEqual({ f: 0, s: 0, d: { a: { d: { run1: { f: 2, s: 30 } } } } });
  });

  it('throws what the service has refused, with code and violations', async () => {
    const unknown = await failure(client.getJob(987654321));
    expect(unknown).toBeInstanceOf(GridError);
    expect([unknown.status, unknown.code]).toEqual([404, 'job.not-found']);
    const bad = await failure(client.listJobs({ maxJobs: 0 }));
    expect([bad.status, bad.violations[0]?.field]).toEqual([400, 'maxJobs']);
  });

  it('tells by its code whether the owner or the directory keeps a file from being moved', async () => {
    const fred = await grid.as('fred');
    const lines = [
      { kind: 'directory', path: '/vo/owners', owner: 'bob', mode: 0o755 },
      { kind: 'directory', path: '/vo/open', mode: 0o777 },
      { kind: 'file', path: '/vo/open/f', size: 1, owner: 'bob', group: 'grid_user' },
      { kind: 'file', path: '/vo/open/g', size: 1, owner: 'alice', group: 'grid_user' },
    ].map((line) => `${JSON.stringify(line)}\n`);
    const made = await fred.post('/filecatalogue/bulk', {
      ...{ body: lines.join(''), headers: { 'content-type': 'application/x-ndjson' } },
    });
    expect(made.bytes.toString()).toContain('"created":4');
    expect(await failure(moveFile(client, '/vo/open/g', '/vo/owners/g'))).toMatchObject({
      status: 403,
      problem: {
        code: 'catalogue.forbidden',
        detail: '/vo/owners/g: You may not write in the directory /vo/owners',
      },
    });
    expect((await failure(moveFile(client, '/vo/open/f', '/vo/open/h'))).problem).toEqual({
      code: 'catalogue.owner-forbidden',
      owner: 'bob',
      detail:
        '/vo/open/f belongs to bob (grid_user), and only a catalogue manager may move it so that this stays',
    });
  });

  it('moves a file where an earlier try has removed it already', async () => {
    await client.registerFile(encodePath('/vo/a/lost'), { Size: 3 });
    const twice = (async (url: string, init: RequestInit) => {
      if (init.method === 'DELETE') await platformFetch(url, init);
      return platformFetch(url, init);
    }) as typeof fetch;
    const token = await grid.token('alice', 'grid_user');
    await moveFile(
      new GridClient({ url: grid.url, token, fetch: twice }),
      '/vo/a/lost',
      '/vo/a/moved',
    );
    expect((await failure(client.readFileAttributes(encodePath('/vo/a/lost')))).status).toBe(404);
    expect((await client.readFileAttributes(encodePath('/vo/a/moved'))).Size).toBe(3);
  });

  it('says that the service cannot be reached', async () => {
    const nobody = new GridClient({ url: 'https://127.0.0.1:9', fetch: platformFetch });
    const error = await failure(nobody.healthLive());
    expect([error.status, error.code]).toEqual([0, 'network']);
  });

  it('ends a call that is no longer wanted', async () => {
    const signal = AbortSignal.abort();
    await expect(client.listJobs({}, { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('renews the token once when the service does not take it, and no more', async () => {
    const good = await grid.token('alice', 'grid_user');
    const asked: string[] = [];
    const make = (renewed: string): GridClient =>
      new GridClient({
        url: grid.url,
        token: () => 'dead',
        renew: () => Promise.resolve((asked.push(renewed), renewed)),
        fetch: platformFetch,
      });
    expect((await make(good).listJobs({ maxJobs: 1 })).jobs).toHaveLength(1);
    const error = await failure(make('dead-too').listJobs());
    expect([error.status, error.code]).toEqual([401, 'auth.token-invalid']);
    expect(asked).toEqual([good, 'dead-too']);
  });

  describe('sign-in', () => {
    const application = () => ({ url: grid.url, clientId: PORTAL, redirectUri: CALLBACK });

    async function answerOf(address: string, decision: string): Promise<URLSearchParams> {
      const visitor = new PageVisitor(await grid.certificate('bob'));
      const page = await visitor.open(address.slice(grid.url.length));
      const choice = { group: 'grid_user', setup: 'Prod', decision };
      const redirect = redirectOf(await visitor.send(formOf(page.body), choice));
      return new URLSearchParams(redirect.parameters);
    }

    it('completes Flow B with PKCE and renews', async () => {
      const { address, kept } = await beginSignIn(application(), { scope: 'jobs:read' });
      const answer = await answerOf(address, 'allow');
      const token = await finishSignIn(application(), answer, kept, platformFetch);
      expect(token).toMatchObject({ scope: 'jobs:read', group: 'grid_user', setup: 'Prod' });
      const next = await renewToken(application(), token.refresh_token ?? '', platformFetch);
      expect(next.access_token).not.toBe(token.access_token);
      await signOut(application(), next.refresh_token ?? '', platformFetch);
      const error = await failure(renewToken(application(), 'unknown', platformFetch));
      expect([error.status, error.problem['error']]).toEqual([400, 'invalid_grant']);
    });

    it('throws the refusal of the user', async () => {
      const { address, kept } = await beginSignIn(application());
      const answer = await answerOf(address, 'deny');
      const error = await failure(finishSignIn(application(), answer, kept, platformFetch));
      expect([error.status, error.code]).toEqual([0, 'access_denied']);
    });

    it.each([
      ['of another sign-in', { code: 'x', state: 'other' }, 'state'],
      ['of another service', { code: 'x', state: '', iss: 'https://evil.example' }, 'issuer'],
    ])('refuses an answer %s', async (_name, given, code) => {
      const { kept } = await beginSignIn(application());
      const answer = new URLSearchParams({ ...given, state: given.state || kept.state });
      const error = await failure(finishSignIn(application(), answer, kept, platformFetch));
      expect(error.code).toBe(code);
    });
  });
});
