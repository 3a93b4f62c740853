import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { FullLog } from '../support/full-log.js';
import { adminToken } from '../support/administration.js';
import { DpopCaller, makeKey } from '../support/applications.js';
import { ask, registerMovers, STORAGE, tokenOf } from '../support/grid-tokens.js';
import { awaitFinal, awaitStatus, sandboxOf, submit } from '../support/jobs.js';
import { freePort } from '../support/ports.mjs';
import { isOfEarlier } from '../support/time-of-tokens.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** Prints every token that it finds in its file, one a line, until it is killed. */
const PRINT = `
  last=
  while :; do
    now=$(cat "$BEARER_TOKEN_FILE") || exit 9
    [ "$now" = "$last" ] || { echo "$now"; last=$now; }
    sleep 0.1
  done`;
/** Looks for its token wherever others could see it, and tries to change the file. */
const LOOK = `
  token=$(cat "$BEARER_TOKEN_FILE")
  tr '\\0' '\\n' </proc/self/environ | grep -F "$token" && echo 'in the environment'
  args=$(cat /proc/[0-9]*/cmdline | tr '\\0' '\\n') # a grep beside it would be found by its own argument
  case $args in *"$token"*) echo 'among the arguments' ;; esac
  ls -R . | grep -i bearer && echo 'in the sandbox'
  (echo x >"$BEARER_TOKEN_FILE") 2>/dev/null && echo 'it can be written'
  rm -f "$BEARER_TOKEN_FILE" 2>/dev/null && echo 'it can be removed'
  stat -c '%a' "$BEARER_TOKEN_FILE"
  printf %s "$token" >token
  echo end`;

const sh = (script: string, token: object): object => ({
  ...{ Executable: '/bin/sh', Arguments: ['-c', script] },
  Token: token,
});

describe('the token of a job', () => {
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    // The restarted server is the same issuer.
    grid = await startGrid({ ownProcess: true, env: { GRID_PORT: String(await freePort()) } });
    alice = await grid.as('alice');
    await registerMovers(grid);
  });
  afterAll(async () => grid?.remove());

  /** What a job under way has printed, line by line. */
  const printed = async (jid: number, lines: number, by = alice): Promise<string[]> =>
    eventually(
      async () => {
        const { status, body } = await by.get(`/jobs/${jid}/peek`);
        const shown = status === 200 ? (body.stdout as string).split('\n').slice(0, -1) : [];
        return shown.length >= lines && shown;
      },
      `${lines} lines of job ${jid}`,
      60_000,
    );
  const statusWith = async (token: string): Promise<number> =>
    (await grid.bearer(token).get('/jobs')).status;

  /** Each token of the server's life is told of, and that they are revoked. */
  const expectAudited = async (log: FullLog, jid: number, tokens: string[]): Promise<void> => {
    const ofJob = (line: Record<string, unknown>, event: string): boolean =>
      line['event'] === event && JSON.stringify(line['jids']) === JSON.stringify([String(jid)]);
    const revoked = await log.line((line) => ofJob(line, 'token.revoked'));
    expect(revoked).toMatchObject({ channel: 'audit', outcome: 'done', kind: 'job' });
    const issued = log.lines().filter((line) => ofJob(line, 'token.issued'));
    const ids = tokens.map((token) => decodeJwt(token).jti);
    expect(issued.map(({ tokenId }) => tokenId)).toEqual(expect.arrayContaining(ids));
    for (const line of issued) {
      expect(line).toMatchObject({
        ...{
          channel: 'audit',
          outcome: 'done',
          grantType: 'job',
          scope: 'jobs:read compute.cancel',
        },
        ...{ user: 'alice', group: 'grid_user', setup: 'Prod', client: 'certificate' },
      });
    }
  };

  it('acts for the submitter within its scope, also after a restart, is renewed, and ends when the job is killed', async () => {
    const wish = { scope: 'jobs:read compute.cancel', audience: [grid.url] };
    const [jid = 0] = await submit(alice, [sh(PRINT, wish)]);
    await awaitStatus(alice, jid, ['Running']);
    const [first = ''] = await printed(jid, 1);
    expect(decodeJwt(first)).toMatchObject({
      ...{ scope: 'jobs:read compute.cancel', aud: grid.url, client_id: 'certificate' },
      ...{ preferred_username: 'alice', sub: decodeJwt(alice.token ?? '').sub },
      ...{ group: 'grid_user', setup: 'Prod' },
    });
    expect(await statusWith(first)).toBe(200);
    const refused = await grid.bearer(first).post('/jobs', { json: { Executable: '/bin/true' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'auth.insufficient-scope']);

    await grid.kill();
    grid = await grid.again({ GRID_ACCESS_TOKEN_TTL: '2' });
    const log = new FullLog(grid); // the first renewal may be over by now
    alice = grid.bearer(alice.token ?? '');
    const all = await printed(jid, 4);
    expect(new Set(all).size).toBe(all.length);
    const lives = all.slice(1).map((token) => {
      const { iat = 0, exp = 0 } = decodeJwt(token);
      return exp - iat;
    });
    expect(new Set(lives)).toEqual(new Set([2]));

    expect(await statusWith(first)).toBe(200);
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(async () => (await statusWith(first)) === 401, 'the token to be revoked');
    expect(await grid.sql('select jid from job_run_tokens')).toEqual([]);
    await expectAudited(log, jid, all.slice(2));
    await grid.stop();
    grid = await grid.again({ GRID_ACCESS_TOKEN_TTL: '3600' });
    alice = grid.bearer(alice.token ?? '');
  });

  it('stands in a file of the job alone, and nowhere else; it ends with the job', async () => {
    const manifest = { ...sh(LOOK, { scope: 'jobs:read' }), OutputSandbox: ['std.out', 'token'] };
    const [jid = 0] = await submit(alice, [manifest]);
    expect((await awaitFinal(alice, [jid])).map(({ status }) => status)).toEqual(['Done']);
    const files = await sandboxOf(alice, jid);
    expect(files['std.out']).toBe('400\nend\n');
    const token = files['token'] ?? '';
    expect(decodeJwt(token)['scope']).toBe('jobs:read');
    expect(await statusWith(token)).toBe(401);
    const stored = await grid.sql(
      `select to_json(j)::text as row from jobs j where jid = $1
        union all select to_json(d)::text from job_descriptions d where jid = $1
        union all select to_json(r)::text from job_token_rights r`,
      [jid],
    );
    for (const { row } of stored) expect(row).not.toContain(token.slice(-20));
    await eventually(async () => {
      const runs = await readdir(join(grid.home, 'jobs', 'runs')).catch(() => []);
      return runs.every((name) => !name.startsWith(`${jid}.`));
    }, 'the directory of the run to be removed');
  });

  it('is none of a job that does not ask for it', async () => {
    const Arguments = ['-c', 'echo "<${BEARER_TOKEN_FILE-none}>"'];
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/sh', Arguments }]);
    await awaitFinal(alice, [jid]);
    expect((await sandboxOf(alice, jid))['std.out']).toBe('<none>\n');
  });

  it('is not given when the submitter has lost the right since', async () => {
    const manifest = { ...sh(LOOK, { scope: 'jobs:read' }), Sites: ['LOCAL.later'] };
    const [jid = 0] = await submit(alice, [manifest]);
    await grid.sql(
      // As when the user is removed from the registry.
      `update job_token_rights set delegation =
        jsonb_set(delegation::jsonb, '{sub}', '"nobody"')::json
        where id = (select token_right from job_descriptions where jid = $1)`,
      [jid],
    );
    await grid.sql(`update jobs set wanted_sites = '{}' where jid = $1`, [jid]);
    const [job] = await awaitFinal(alice, [jid]);
    expect([job?.status, job?.minorStatus, job?.appStatus]).toEqual([
      ...['Failed', 'Job Wrapper Initialization'],
      'Its submitter has no right to its token any more',
    ]);
  });

  describe('is never wider than that of the submitter', () => {
    const dryRun = async (token: string, Token: unknown, more: object = {}): Promise<unknown> => {
      const json = { Executable: '/bin/true', Token, ...more };
      const { status, body } = await grid.bearer(token).post('/jobs?dryRun=true', { json });
      return status === 200 ? body.warnings : [status, body.violations];
    };
    const nothing = (scope: string): unknown => [
      400,
      [
        {
          field: 'Token.scope',
          problem: `nothing of it is within the token of the request and the rights of the group: ${scope}`,
        },
      ],
    ];
    const withSubmit = async (scope: string): Promise<string> =>
      tokenOf(grid, `jobs:submit ${scope}`);

    it('in scope: what is not the submitter’s is left out with a warning, and refused when nothing is left', async () => {
      const token = await withSubmit('jobs:read');
      expect(await dryRun(token, { scope: 'jobs:read' })).toEqual([]);
      expect(await dryRun(token, { scope: 'compute.read jobs:kill sweets' })).toEqual(
        ['jobs:kill', 'sweets'].map((word) => ({
          code: 'manifest.token-scope',
          detail: `The token of the job does not get ${word}: the token of the request, or the group, does not have it`,
          pointer: '/Token/scope',
        })),
      );
      for (const scope of ['jobs:kill', 'sweets', 'catalogue:read storage.read:/']) {
        expect(await dryRun(token, { scope })).toEqual(nothing(scope));
      }
    });

    it('in path and in groups', async () => {
      const token = await withSubmit('storage.read:/vo/a wlcg.groups:/vo/grid_user');
      expect(await dryRun(token, { scope: 'storage.read:/vo/a/b' })).toEqual([]);
      for (const scope of ['storage.read:/vo/ab', 'storage.read:/', 'storage.modify:/vo/a']) {
        expect(await dryRun(token, { scope })).toEqual(nothing(scope));
      }
    });

    it('in audience', async () => {
      const problem = 'The subject_token or the application is not for this audience';
      const own = await withSubmit('jobs:read');
      expect(await dryRun(own, { scope: 'jobs:read', audience: grid.url })).toEqual([]);
      for (const audience of [STORAGE, [grid.url, STORAGE]]) {
        expect(await dryRun(own, { scope: 'jobs:read', audience })).toEqual([
          ...[400, [{ field: 'Token.audience', problem }]],
        ]);
      }
    });

    it('and a bound token is not passed on as one for everybody', async () => {
      const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
      const form = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
      const { body } = await caller.call('POST', '/oauth2/token', { form });
      const token = body.access_token as string;
      const json = { Executable: '/bin/true', Token: { scope: 'jobs:read' } };
      const answer = await caller.call('POST', '/jobs', { json, token });
      expect([answer.status, answer.body.violations]).toEqual([
        400,
        [
          {
            field: 'Token',
            problem: 'The token of the request is bound to a key, which the job does not have',
          },
        ],
      ]);
    });

    it.each<[unknown, object, string, string]>([
      ['jobs:read', {}, 'Token', 'must be an object with scope and audience'],
      [['jobs:read'], {}, 'Token', 'must be an object with scope and audience'],
      [{}, {}, 'Token.scope', 'is missing'],
      [{ scope: ' ' }, {}, 'Token.scope', 'is empty'],
      [{ scope: ['jobs:read'] }, {}, 'Token.scope', 'must be a text'],
      [{ scope: 'jobs:read', audience: [] }, {}, 'Token.audience', 'is empty'],
      [
        { scope: 'jobs:read', audience: 7 },
        {},
        'Token.audience',
        'must be a text or a list of texts',
      ],
      [
        { scope: 'jobs:read', group: 'x' },
        {},
        'Token.group',
        'is not known: scope and audience are',
      ],
      [
        { scope: 'jobs:read' },
        { ExecutionEnvironment: { BEARER_TOKEN_FILE: '/tmp/x' } },
        ...(['ExecutionEnvironment', 'BEARER_TOKEN_FILE: is set by the service'] as const),
      ],
    ])('and %j with %j is refused', async (token, more, field, problem) => {
      expect(await dryRun(alice.token ?? '', token, more)).toEqual([400, [{ field, problem }]]);
    });

    it('the scopes of many jobs are judged one by one, at most a hundred different ones', async () => {
      const manifest = { ...sh('true', { scope: 'storage.read:/vo/a/%s' }) };
      const many = (count: number): object => ({
        ...manifest,
        Parameters: Array.from({ length: count }, (_none, index) => `p${index}`),
      });
      const client = grid.bearer(await withSubmit('storage.read:/vo/a'));
      const dry = async (json: object) => client.post('/jobs?dryRun=true', { json });
      expect((await dry(many(3))).body.jobs).toBe(3);
      const { status, body } = await dry(many(101));
      expect([status, body.violations]).toEqual([
        ...[400, [{ field: 'Token', problem: 'more than 100 different ones are in the request' }]],
      ]);
    });
  });

  it('is not given when the submitter has left the group meanwhile, and is a member again', async () => {
    const before = await grid.as('bob', 'grid_share');
    const manifest = { ...sh(LOOK, { scope: 'jobs:read' }), Sites: ['LOCAL.later'] };
    const [jid = 0] = await submit(before, [manifest]);
    await grid.sql(
      `insert into registry_departure (user_name, group_name, left_at)
        values ('bob', 'grid_share', now() + interval '1 hour')`,
    );
    await grid.sql(`update registry_user set position = position where name = 'bob'`);
    await eventually(
      async () => (await before.get('/jobs')).status === 401,
      'the end of the token',
    );
    await grid.sql(`update jobs set wanted_sites = '{}' where jid = $1`, [jid]);
    const [job] = await awaitFinal(await grid.as('bob'), [jid]);
    expect([job?.status, job?.minorStatus, job?.appStatus]).toEqual([
      ...['Failed', 'Job Wrapper Initialization'],
      'Its submitter has no right to its token any more',
    ]);
  });

  it('outlasts a certificate that its submitter gets, and ends for good with one that is taken away', async () => {
    const adam = grid.bearer(await adminToken(grid));
    const carol = grid.bearer(await grid.token('carol', 'grid_user'));
    const wish = { scope: 'jobs:read' };
    const [jid = 0] = await submit(carol, [sh(PRINT, wish)]);
    const [waiting = 0] = await submit(carol, [{ ...sh(LOOK, wish), Sites: ['LOCAL.later'] }]);
    const [token = ''] = await printed(jid, 1, carol);
    const own = { subject: '/DC=org/DC=grid/CN=carol' };
    const change = async (certificates: object[]): Promise<unknown> =>
      (await adam.patch('/admin/users/carol', { json: { certificates } })).status;
    expect(await change([own, { subject: '/DC=org/DC=grid/CN=carol2' }])).toBe(200);
    expect(await statusWith(token)).toBe(200);
    await isOfEarlier(token);
    expect(await change([own])).toBe(200);
    expect(await statusWith(token)).toBe(401);
    await grid.sql(`update jobs set wanted_sites = '{}' where jid = $1`, [waiting]);
    const after = grid.bearer(await grid.token('carol', 'grid_user'));
    const [job] = await awaitFinal(after, [waiting]);
    expect(job?.appStatus).toBe('Its submitter has no right to its token any more');
    expect(await printed(jid, 1, after)).toEqual([token]);
    expect((await after.delete(`/jobs/${jid}`)).status).toBe(200);
  });

  it('is for the audience that is asked for, where the submitter may have it', async () => {
    const { body } = await ask(grid, 'alice', [
      ['scope', 'jobs:submit storage.read:/vo/a'],
      ['audience', grid.url],
      ['audience', STORAGE],
    ]);
    const wide = grid.bearer(body.access_token as string);
    const json = {
      manifests: [
        sh('cat "$BEARER_TOKEN_FILE"', { scope: 'storage.read:/vo/a', audience: STORAGE }),
      ],
    };
    const answer = await wide.post<{ jids: number[] }>('/jobs', { json });
    const [jid = 0] = answer.body.jids;
    await awaitFinal(alice, [jid]);
    const token = (await sandboxOf(alice, jid))['std.out'] ?? '';
    expect(decodeJwt(token)).toMatchObject({ aud: STORAGE, scope: 'storage.read:/vo/a' });
  });

  it('is not given by a batch system: the job waits for a site that does, and the submitter is told', async () => {
    await grid.sql(
      `insert into registry_site (name, position, backend, options)
        values ('BATCH.one', 90, 'slurm', '{}')`,
    );
    const json = { ...sh('true', { scope: 'jobs:read' }), Sites: ['BATCH.one'] };
    const found = await eventually(async () => {
      const { status, body } = await alice.post('/jobs?dryRun=true', { json });
      const [warning] = status === 200 ? body.warnings : [];
      return warning?.code === 'manifest.no-site' && warning;
    }, 'the site to be known');
    expect(found).toEqual({
      code: 'manifest.no-site',
      detail: 'No site can hold the job now (BATCH.one: It gives jobs no tokens)',
      pointer: '',
    });
  });

  it('is not in the log', () => {
    expect(grid.server.log()).not.toMatch(/eyJ[\w-]{20,}\.[\w-]{20,}\./);
  });
});
