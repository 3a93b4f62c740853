import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Blocker } from '../support/blocker.js';
import { submit } from '../support/jobs.js';
import { encoded } from '../support/tenants/place.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const REQUESTS = 32;
const POOL = 10;
const QUARTER = 2;

const MANIFESTS = 'lock table job_descriptions in access exclusive mode';

describe('what the requests of one caller hold of the database', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let blocker: Blocker | undefined;
  let manifest: string;
  let expected: unknown;

  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_DB_POOL: String(POOL), GRID_LOG_LEVEL: 'error' };
    grid = await startGrid({ env: { ...env, GRID_DB_QUEUE_TIMEOUT: '60' } });
    [alice, bob] = await Promise.all([grid.as('alice'), grid.as('bob')]);
    manifest = `/jobs/${(await submit(alice, [{ Executable: '/bin/true' }]))[0]}/manifest`;
    expected = (await alice.get(manifest)).body;
    await grid.sql(`update catalogue_directory set mode = 511 where path = '/vo'`);
    for (const client of [alice, bob])
      await client.get(`/filecatalogue/directory/${encoded('/vo')}`);
  });
  afterEach(async () => {
    await release();
    await waiting(grid, 0);
  });
  afterAll(() => grid?.remove());

  const release = async (): Promise<void> => {
    await blocker?.end();
    blocker = undefined;
  };

  const waiting = (on: Grid, expected: number): Promise<unknown> =>
    eventually(async () => {
      const { body } = await on.anonymous.get<string>('/metrics');
      const [, text] = /^gridgate_caller_requests\{state="held"\} (\d+)$/m.exec(body) ?? [];
      return Number(text) === expected;
    }, `${expected} held back`);

  /** Everything that somebody else may ask of the catalogue while alice's requests are held up. */
  const othersAreAnswered = async (on: GridClient): Promise<void> => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => on.get(`/filecatalogue/directory/${encoded('/vo')}/search`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers[0]?.body).toEqual(expect.objectContaining({ f: expect.any(Number) }));
  };

  it('is a quarter of the pool; others are answered meanwhile, and then all of them', async () => {
    blocker = await Blocker.hold(grid, MANIFESTS);
    const slow = Array.from({ length: REQUESTS }, () => alice.get(manifest));
    await waiting(grid, REQUESTS - QUARTER);
    await blocker.keeps(QUARTER);
    await othersAreAnswered(bob);
    await blocker.keeps(QUARTER);
    await release();
    for (const { status, body } of await Promise.all(slow)) {
      expect([status, body]).toEqual([200, expected]);
    }
  });

  it('leaves places to the writers of others', async () => {
    const put = (client: GridClient, path: string) =>
      client.put(`/filecatalogue/file/${encoded(path)}`, { json: { Size: 1 } });
    for (const name of ['alice', 'bob']) {
      const client = name === 'alice' ? alice : bob;
      expect((await put(client, `/vo/of-${name}/first`)).status).toBe(201);
    }
    blocker = await Blocker.hold(
      grid,
      `select from catalogue_directory where path = '/vo/of-alice' for update`,
    );
    const slow = Array.from({ length: 20 }, (_, n) => put(alice, `/vo/of-alice/f${n}`));
    await waiting(grid, 20 - QUARTER);
    await blocker.keeps(QUARTER);
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put(bob, `/vo/of-bob/f${n}`)),
    );
    expect(others.map(({ status }) => status)).toEqual(Array(10).fill(201));
    await blocker.keeps(QUARTER);
    await release();
    const answers = await Promise.all(slow);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
  });

  it('frees the queue of requests whose clients have gone', async () => {
    blocker = await Blocker.hold(grid, MANIFESTS);
    const leaving = await grid.as('alice');
    const cut = Array.from({ length: REQUESTS }, () => leaving.get(manifest).catch(() => 'cut'));
    await waiting(grid, REQUESTS - QUARTER);
    await leaving.close();
    await waiting(grid, 0);
    expect(new Set(await Promise.all(cut))).toEqual(new Set(['cut']));
    await othersAreAnswered(bob);
    await release();
    expect((await alice.get(manifest)).status).toBe(200);
  });

  it('is not held by requests that wait for their clients, which are answered in the end', async () => {
    let send: () => void = () => undefined;
    const more = new Promise<void>((resolve) => (send = resolve));
    const late = async function* (first: string, rest: string): AsyncGenerator<Buffer> {
      yield Buffer.from(first);
      await more;
      yield Buffer.from(rest);
    };
    const upload = (path: string, type: string, body: AsyncIterable<Buffer>) =>
      alice.post(path, { body, headers: { 'content-type': type } });
    const line = `{"kind":"directory","path":"/vo/of-${Date.now()}"}\n`;
    const slow = [
      ...Array.from({ length: 2 * QUARTER }, () =>
        upload('/jobs', 'application/json', late('{"Executable":', '"/bin/true"}')),
      ),
      ...Array.from({ length: QUARTER }, () =>
        upload('/jobs', 'application/x-ndjson', late('{"Executable":', '"/bin/true"}\n')),
      ),
      ...Array.from({ length: QUARTER }, () =>
        upload(
          '/filecatalogue/bulk',
          'application/x-ndjson',
          late(line.slice(0, 9), line.slice(9)),
        ),
      ),
      ...Array.from({ length: QUARTER }, () =>
        upload(
          '/jobs',
          'multipart/form-data; boundary=x',
          late(
            '--x\r\ncontent-disposition: form-data; name="manifest"\r\n\r\n{"Executable":',
            '"/bin/true"}\r\n--x--\r\n',
          ),
        ),
      ),
    ];
    await eventually(async () => {
      const { body } = await grid.anonymous.get<string>('/metrics');
      return body.includes(`gridgate_caller_requests{state="working"} ${slow.length}\n`);
    }, 'the uploads to be at work');
    expect(await alice.get(manifest)).toMatchObject({ status: 200, body: expected });
    send();
    const answers = await Promise.all(slow);
    expect(answers.map(({ status }) => status)).toEqual(slow.map(() => 200));
  });

  it('is refused with 503 and Retry-After when it does not get less in time', async () => {
    const hasty = await grid.second({ GRID_DB_QUEUE_TIMEOUT: '1', GRID_DB_TIMEOUT: '60' });
    try {
      const [caller, other] = [await hasty.as('alice'), await hasty.as('bob')];
      blocker = await Blocker.hold(grid, MANIFESTS);
      const slow = Array.from({ length: REQUESTS }, () => caller.get(manifest));
      await waiting(hasty, REQUESTS - QUARTER);
      await othersAreAnswered(other);
      await waiting(hasty, 0);
      await release();
      const answers = await Promise.all(slow);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(answers.length - refused.length).toBe(QUARTER);
      for (const { status, headers, body } of refused) {
        expect({ status, retryAfter: headers['retry-after'], body }).toEqual({
          status: 503,
          retryAfter: '1',
          body: {
            type: 'urn:gridgate:problem:service.overloaded',
            title: expect.any(String),
            status: 503,
            detail: 'Other requests of yours use what one caller may have of the database',
            code: 'service.overloaded',
            instance: `urn:gridgate:request:${String(headers['x-request-id'])}`,
          },
        });
      }
    } finally {
      await hasty.stop();
    }
  });
});
