import { adminToken } from '../support/administration.js';
import { AuditTrail } from '../support/audit-trail.js';
import {
  addSiteSecret,
  addWorkers,
  addWorkerSite,
  badProof,
  NO_SECRET,
  refused,
  registered,
  renewed,
  seen,
  SITE,
  TestWorker,
  UNKNOWN,
} from '../support/test-worker.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const OTHER = 'CLOUD.example';

let grid: Grid;
let adam: GridClient;
let trail: AuditTrail;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info' } });
  trail = new AuditTrail(grid);
  await addWorkerSite(grid, SITE);
  await addWorkerSite(grid, OTHER);
  adam = grid.bearer(await adminToken(grid));
});
afterAll(() => grid?.remove());

describe('POST /workers', () => {
  it('makes the holder of a key a worker, who is the same one when the answer was lost', async () => {
    const { id: secretId, secret } = await addSiteSecret(grid, SITE);
    const worker = await TestWorker.of(grid);
    const facts = { isolation: 'namespaces', processors: 8, ramMB: 16_000, tags: ['el9'] };
    const first = await worker.register({ site: SITE, secret, facts });
    expect(seen(first)).toEqual([201, registered]);
    const again = await worker.register({ site: SITE, secret, name: 'node8', facts });
    expect(seen(again)).toEqual([200, { ...registered, id: first.body.id }]);
    const rows = await grid.sql('select * from worker where jkt = $1', [worker.key.thumbprint]);
    expect(rows).toEqual([
      {
        id: first.body.id,
        site: SITE,
        jkt: worker.key.thumbprint,
        secret_id: secretId,
        name: 'node8',
        version: '0.2.0',
        protocol: 1,
        facts,
        instance: null,
        owner: null,
        seq: '0',
        created_at: expect.any(Date),
        seen_at: expect.any(Date),
        draining_at: null,
        bad_runs: [],
        pauses: 0,
        paused_until: null,
        removed_at: null,
      },
    ]);
    const details = { worker: first.body.id, site: SITE, name: 'node7', secret: secretId };
    expect(await trail.lineOf(first, 'worker.registered')).toEqual({ outcome: 'done', ...details });
    expect(trail.eventsOf(again)).toEqual([]);
  });

  it('makes one worker of twenty requests of one key at once', async () => {
    const { secret } = await addSiteSecret(grid, SITE);
    const worker = await TestWorker.of(grid);
    await worker.renew(UNKNOWN); // learns the nonce
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => worker.register({ site: SITE, secret })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const rows = await grid.sql('select id from worker where jkt = $1', [worker.key.thumbprint]);
    expect(rows).toEqual([{ id: worker.id }]);
  });

  it('gives a secret to the first key that uses it, also of many at once', async () => {
    const { secret } = await addSiteSecret(grid, SITE);
    const workers = await Promise.all(Array.from({ length: 8 }, () => TestWorker.of(grid)));
    await Promise.all(workers.map((worker) => worker.renew(UNKNOWN)));
    const answers = await Promise.all(
      workers.map((worker) => worker.register({ site: SITE, secret })),
    );
    const one = answers.filter(({ status }) => status === 201);
    expect(one.map(seen)).toEqual([[201, registered]]);
    const others = answers.filter(({ status }) => status !== 201);
    expect(others.map(seen)).toEqual(Array(7).fill(NO_SECRET));
  });

  it('takes a reusable one from any key, and each is a worker of its own', async () => {
    const { secret } = await addSiteSecret(grid, SITE, { reusable: true });
    const [one, two] = [await TestWorker.of(grid), await TestWorker.of(grid)];
    expect(seen(await one.register({ site: SITE, secret }))).toEqual([201, registered]);
    expect(seen(await two.register({ site: SITE, secret }))).toEqual([201, registered]);
    expect(one.id).not.toBe(two.id);
  });

  it('refuses every secret that is no good in the same words', async () => {
    const good = await addSiteSecret(grid, SITE);
    const revoked = await addSiteSecret(grid, SITE);
    await grid.sql('update site_secret set revoked_at = now() where id = $1', [revoked.id]);
    const used = await addSiteSecret(grid, SITE);
    const owner = await TestWorker.of(grid);
    await owner.register({ site: SITE, secret: used.secret });
    const elsewhere = await addSiteSecret(grid, OTHER);
    const tries = {
      revoked: revoked.secret,
      used: used.secret,
      'of another site': elsewhere.secret,
      'with another end': `${good.secret.slice(0, -2)}xx`,
      'with an unknown id': good.secret.replace(good.id, 'ffffffffffff'),
      'its id alone': good.id,
      empty: '',
    };
    const worker = await TestWorker.of(grid);
    for (const [what, secret] of Object.entries(tries)) {
      expect([what, seen(await worker.register({ site: SITE, secret }))]).toEqual([
        what,
        NO_SECRET,
      ]);
    }
    for (const site of ['nowhere', 'LOCAL.demo']) {
      expect(seen(await worker.register({ site, secret: good.secret }))).toEqual(NO_SECRET);
    }
    const last = await worker.register({ site: SITE, secret: revoked.secret });
    expect(await trail.lineOf(last, 'worker.registered')).toEqual({
      ...{ outcome: 'refused', code: 'worker.secret-refused', site: SITE },
    });
    expect(seen(await worker.register({ site: SITE, secret: good.secret }))).toEqual([
      ...[201, registered],
    ]);
  });

  it('refuses more wrong secrets from an address than it may ask for tokens', async () => {
    const other = await startGrid({ env: { GRID_ROLE: 'api', GRID_RATE_TOKEN: '3' } });
    try {
      const worker = await TestWorker.of(other);
      await worker.renew(UNKNOWN); // learns the nonce
      const late = await eventually(async () => {
        const wrong = Array.from({ length: 9 }, (_, index) => `wrong ${index}`);
        const answers = await Promise.all(
          wrong.map((secret) => worker.register({ site: secret, secret })),
        );
        expect(answers.map(seen)).toContainEqual(NO_SECRET);
        const again = await worker.register({ site: SITE, secret: 'wrong' });
        return again.status === 429 && again;
      }, 'a refusal of its address');
      const detail = 'Too many wrong secrets of sites from your address';
      expect(seen(late)).toEqual(refused('rate.limited', detail));
      expect(late.headers['retry-after']).toBe('1');
    } finally {
      await other.remove();
    }
  });

  it('says of a site that takes no workers why, to whom has its secret alone', async () => {
    await addWorkerSite(grid, 'GONE.example');
    const { secret } = await addSiteSecret(grid, 'GONE.example');
    const worker = await TestWorker.of(grid);
    const register = (): Promise<Answer> => worker.register({ site: 'GONE.example', secret });
    const rest = 'workers run jobs of sites with the backend worker';
    await grid.sql(`update registry_site set backend = 'slurm' where name = 'GONE.example'`);
    expect(seen(await register())).toEqual(
      refused('worker.site-closed', `Site GONE.example has the backend slurm: ${rest}`),
    );
    await grid.sql(`delete from registry_site where name = 'GONE.example'`);
    expect(seen(await register())).toEqual(
      refused('worker.site-closed', `There is no site GONE.example: ${rest}`),
    );
    await addWorkerSite(grid, 'GONE.example');
    expect(seen(await register())).toEqual([201, registered]);
  });

  it('lets a worker of a site that the registry has lost renew its token and end', async () => {
    await addWorkerSite(grid, 'LOST.example');
    const worker = await TestWorker.registered(grid, 'LOST.example');
    await grid.sql(`delete from registry_site where name = 'LOST.example'`);
    expect(seen(await worker.renew())).toEqual([200, renewed]);
    expect(seen(await worker.call())).toEqual([204, '']);
  });

  it('takes workers at a drained site', async () => {
    await addWorkerSite(grid, 'DRAINED.example');
    const json = { reason: 'new kernel' };
    expect((await adam.post('/admin/sites/DRAINED.example/drain', { json })).status).toBe(200);
    const { secret } = await addSiteSecret(grid, 'DRAINED.example');
    const worker = await TestWorker.of(grid);
    const answer = await worker.register({ site: 'DRAINED.example', secret });
    expect(seen(answer)).toEqual([201, registered]);
  });

  it('refuses the next worker of a site that has 10,000, and none that it has', async () => {
    await addWorkerSite(grid, 'FULL.example');
    const { secret } = await addSiteSecret(grid, 'FULL.example', { reusable: true });
    const worker = await TestWorker.of(grid);
    expect((await worker.register({ site: 'FULL.example', secret })).status).toBe(201);
    await addWorkers(grid, 9_999, 'FULL.example');
    const another = await TestWorker.of(grid);
    const detail = 'The site has 10000 workers already: end some, or revoke those that are gone';
    expect(seen(await another.register({ site: 'FULL.example', secret }))).toEqual(
      refused('worker.limit', detail),
    );
    expect((await worker.register({ site: 'FULL.example', secret })).status).toBe(200);
    expect((await worker.call()).status).toBe(204);
    expect((await another.register({ site: 'FULL.example', secret })).status).toBe(201);
  });

  it('says what to do about another protocol, and leaves the secret alone', async () => {
    const { secret } = await addSiteSecret(grid, SITE);
    const worker = await TestWorker.of(grid);
    const detail =
      'Protocol 2 of workers is not spoken here, only 1: run a worker of the release that the service has';
    expect(seen(await worker.register({ site: SITE, secret, protocol: 2 }))).toEqual(
      refused('worker.protocol-unknown', detail),
    );
    const another = await TestWorker.of(grid);
    expect(seen(await another.register({ site: SITE, secret }))).toEqual([201, registered]);
  });

  it.each([
    [{ more: 1 }, 'more', 'is not known here'],
    [{ facts: { more: 1 } }, 'facts.more', 'is not known here'],
    [{ facts: [] }, 'facts', 'is not a JSON object'],
    [{ facts: { processors: 0 } }, 'facts.processors', 'must be at least 1'],
    [
      { facts: { isolation: 'best' } },
      'facts.isolation',
      'is not one of namespaces, accounts, none',
    ],
    [
      { facts: { tags: ['no tag'] } },
      'facts.tags',
      'has more than 100 tags, or one that no site can have',
    ],
    [{ name: 'a\u202eb' }, 'name', 'has control characters or invisible ones'],
    [{ name: 'x'.repeat(129) }, 'name', 'has more than 128 characters'],
    [{ protocol: 'one' }, 'protocol', 'is not a whole number'],
  ])('refuses %j', async (body, field, problem) => {
    const worker = await TestWorker.of(grid);
    const violations = [{ field, problem }];
    const answer = await worker.register({ site: SITE, secret: 'x', ...body });
    expect(seen(answer)).toEqual(
      refused('request.invalid', `${field}: ${problem}`, { violations }),
    );
  });

  it('refuses a body that is too large', async () => {
    const worker = await TestWorker.of(grid);
    const answer = await worker.register({ site: SITE, secret: 'x'.repeat(16_384) });
    expect(seen(answer)).toEqual(
      refused('request.too-large', 'The body is larger than 16384 bytes'),
    );
  });
});

describe('PUT /workers/<id>', () => {
  const words = { protocol: 1, name: 'moved', version: '9.9.9' };
  const tell = (worker: TestWorker, json: object, id = worker.id) =>
    worker.caller.call('PUT', `/workers/${id}`, { token: worker.token, json });
  const known = async (id: string) => {
    const [row] = await grid.sql('select name, version, facts from worker where id = $1', [id]);
    return row as object;
  };

  it('keeps what a worker that was started again says of its machine', async () => {
    const worker = await TestWorker.registered(grid, SITE, { processors: 2, tags: ['el9'] });
    const { status, body } = await tell(worker, { ...words, facts: { processors: 8 } });
    expect([status, body]).toEqual([200, { lease_seconds: 90, seq: 0 }]);
    expect(await known(worker.id)).toEqual({
      ...{ name: 'moved', version: '9.9.9' },
      facts: { processors: 8 },
    });
  });

  it('is refused for another worker, another protocol and what is none, and changes nothing', async () => {
    const [worker, other] = [
      await TestWorker.registered(grid, SITE, { processors: 2 }),
      await TestWorker.registered(grid, SITE),
    ];
    const answers = [
      await tell(other, words, worker.id),
      await tell(worker, { ...words, protocol: 2 }),
      await tell(worker, { ...words, facts: { processors: 0 } }),
      await tell(worker, { ...words, secret: 'x' }),
      await tell(worker, { protocol: 1 }),
    ];
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '404 worker.not-found',
      '409 worker.protocol-unknown',
      '400 request.invalid',
      '400 request.invalid',
      '400 request.invalid',
    ]);
    expect(await known(worker.id)).toEqual({
      ...{ name: 'node7', version: '0.2.0' },
      facts: { processors: 2 },
    });
  });
});

describe('a proof at /workers', () => {
  const json = { site: SITE, secret: 'x', protocol: 1, name: 'x', version: '1' };
  const send = (dpop?: string): Promise<Answer> =>
    grid.anonymous.post('/workers', { json, ...(dpop !== undefined && { headers: { dpop } }) });

  it('must be there', async () => {
    const answer = await send();
    expect(seen(answer)).toEqual(badProof(grid, 'invalid_dpop_proof', 'Send a DPoP proof'));
    expect(answer.headers['dpop-nonce']).toMatch(/^\d+\./);
  });

  it('must be for the method, the address and no token, with a nonce of the service', async () => {
    const { caller } = await TestWorker.of(grid);
    await caller.call('POST', `/workers/${UNKNOWN}/token`);
    const { nonce } = caller;
    const old = nonce!.replace(/^\d+/, (slot) => String(Number(slot) - 6));
    const NONCE = 'The DPoP proof needs the nonce of the DPoP-Nonce header';
    const proof = (claims: object): Promise<string> =>
      caller.proof('POST', '/workers', undefined, claims);
    const cases: [string, string, string][] = [
      [
        await proof({ htm: 'GET' }),
        'invalid_dpop_proof',
        'The DPoP proof is for another method (htm)',
      ],
      [
        await proof({ htu: `${grid.url}/workers/${UNKNOWN}/token` }),
        'invalid_dpop_proof',
        'The DPoP proof is for another address (htu)',
      ],
      [
        await proof({ ath: 'x' }),
        'invalid_dpop_proof',
        'The DPoP proof is for another token (ath)',
      ],
      [await proof({ nonce: old }), 'use_dpop_nonce', NONCE],
      [await proof({ nonce: undefined }), 'use_dpop_nonce', NONCE],
      ['x.y.z', 'invalid_dpop_proof', 'The DPoP proof is not one: see RFC 9449'],
    ];
    for (const [dpop, error, detail] of cases) {
      expect(seen(await send(dpop))).toEqual(badProof(grid, error, detail));
    }
  });

  it('may come twice, from a clock that is an hour wrong', async () => {
    const worker = await TestWorker.registered(grid, SITE);
    const { caller, id } = worker;
    for (const seconds of [-3600, 3600]) {
      const iat = Math.floor(Date.now() / 1000) + seconds;
      const dpop = await caller.proof('POST', `/workers/${id}/token`, undefined, { iat });
      for (const headers of [{ dpop }, { dpop }]) {
        const answer = await grid.anonymous.post(`/workers/${id}/token`, { headers });
        expect(seen(answer)).toEqual([200, renewed]);
      }
    }
    expect(await grid.sql('select * from used_proof')).toEqual([]);
  });
});
