import { awaitFinal, submit } from '../support/jobs.js';
import { ASKS, LINES, told } from '../support/catalogue/hidden.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const NDJSON = 'application/x-ndjson';

/** Two places of the same shape, of which bob sees neither: alice has closed one, the other one is not there. */
interface Pair {
  hidden: string;
  missing: string;
}

/** Bob may not write where these would stand. */
const CLOSED: Pair[] = [
  { hidden: '/vo/secret', missing: '/vo/absent' },
  { hidden: '/vo/secret/project', missing: '/vo/absent/project' },
  { hidden: '/vo/secret/project', missing: '/vo/secret/nothing' },
  { hidden: '/vo/secret/nothing', missing: '/vo/absent/nothing' },
];

describe('with GRID_CATALOGUE_GLOBAL_READ=false, what is hidden', () => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
    [alice, bob] = [await grid.as('alice'), await grid.as('bob', 'grid_share')];
    const fred = await grid.as('fred');
    await bulk(fred, [
      { kind: 'field', name: 'project', type: 'string' },
      { kind: 'directory', path: '/vo/secret', owner: 'alice', group: 'grid_user' },
      { kind: 'directory', path: '/vo/open', mode: 511 },
    ]);
    await bulk(alice, [
      { kind: 'directory', path: '/vo/secret', mode: 448 },
      { kind: 'directory', path: '/vo/secret/project', metadata: { project: 'grid' } },
      { kind: 'file', path: '/vo/secret/plan', size: 10 },
      { kind: 'file', path: '/vo/secret/project/plan', size: 10, metadata: { note: 'mine' } },
      { kind: 'directory', path: '/vo/open/secret', mode: 448 },
      { kind: 'file', path: '/vo/open/secret/plan', size: 10 },
    ]);
  });
  afterAll(() => grid?.remove());

  async function bulk(client: GridClient, lines: object[]): Promise<Answer<string>> {
    const answer = await client.post<string>('/filecatalogue/bulk', {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': NDJSON },
    });
    expect(answer.status).toBe(200);
    return answer;
  }

  describe.each(CLOSED)('at $hidden is like what is missing at $missing', (pair) => {
    it.each(ASKS)('for %s', async (...[, method, path, options]) => {
      const [hidden, missing] = [pair.hidden, pair.missing];
      const there = told(await bob.call(method, path(hidden), options), hidden);
      const nowhere = told(await bob.call(method, path(missing), options), missing);
      expect(there).toEqual(nowhere);
      expect([400, 403, 404]).toContain((there as { status: number }).status);
    });

    it('for every line of a bulk', async () => {
      const asked = async (place: string): Promise<unknown> =>
        told(
          await bulk(
            bob,
            LINES.map((line) => line(place)),
          ),
          place,
        );
      expect(await asked(pair.hidden)).toEqual(await asked(pair.missing));
    });
  });

  it('is 404 to read and to remove, 403 to make where the caller may not write', async () => {
    const [directory, file] = [routes.directory('/vo/secret'), routes.file('/vo/secret/plan')];
    const codes = await Promise.all([
      bob.get(directory),
      bob.get(`${directory}/search`),
      bob.get(`${directory}/metadata`),
      bob.get(`${file}/attributes`),
      bob.delete(directory),
      bob.delete(file),
      bob.post(directory),
      bob.put(file, { json: { Size: 10 } }),
    ]);
    const [noDirectory, noFile] = ['catalogue.directory-not-found', 'catalogue.file-not-found'];
    expect(codes.map(({ body }) => body.code)).toEqual([
      ...[noDirectory, noDirectory, noDirectory, noFile, noDirectory, noFile],
      ...['catalogue.forbidden', 'catalogue.forbidden'],
    ]);
  });

  it('shows only that its name is taken, to who may write there', async () => {
    const answers = [
      await bob.post(routes.directory('/vo/open/secret')),
      await bob.post(routes.directory('/vo/open/secret/plan/x')),
      await bob.put(routes.file('/vo/open/secret'), { json: { Size: 1 } }),
      await bob.put(routes.file('/vo/open/secret/plan'), { json: { Size: 10 } }),
      await bob.put(routes.file('/vo/open/secret/other'), { json: { Size: 10 } }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code, body.detail])).toEqual(
      answers.map(() => [409, 'catalogue.exists', '/vo/open/secret is taken']),
    );
    expect((await alice.get(`${routes.file('/vo/open/secret/plan')}/attributes`)).status).toBe(200);
  });

  it('is not listed either: what may not be read has no name in its parent', async () => {
    const { body } = await bob.get(routes.directory('/vo/open'));
    expect(body).toEqual({ SubDirs: {}, Files: {} });
  });

  it('is what it is for its owner and for a manager', async () => {
    for (const client of [alice, await grid.as('fred')]) {
      expect((await client.get(routes.directory('/vo/secret'))).status).toBe(200);
      expect((await client.get(`${routes.file('/vo/secret/plan')}/attributes`)).status).toBe(200);
    }
  });

  describe('as input data of a job', () => {
    /** Everything that the submitter can find out about a job, without what differs between any two of them. */
    async function traces(client: GridClient, inputData: string): Promise<unknown> {
      const manifest = { Executable: '/bin/true', InputData: [`LFN:${inputData}`] };
      const dry = await client.post('/jobs', { query: { dryRun: 'true' }, json: manifest });
      const [jid = 0] = await submit(client, [manifest]);
      await awaitFinal(client, [jid]);
      const parts = ['', '/history', '/parameters', '/explain', '/manifest'];
      const answers = [dry];
      for (const part of parts) answers.push(await client.get(`/jobs/${jid}${part}`));
      return answers.map(({ status, bytes }) => [
        status,
        bytes
          .toString('utf8')
          .replaceAll(inputData, 'FILE')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
          .replaceAll(`"jid":${jid}`, '"jid":JID')
          .replaceAll(`"JobID":${jid}`, '"JobID":JID')
          .replaceAll(/"instance":"[^"]*"/g, ''),
      ]);
    }

    it('is missing for who may not see it, in every trace of the job', async () => {
      const hidden = await traces(bob, '/vo/secret/plan');
      expect(hidden).toEqual(await traces(bob, '/vo/absent/plan'));
      expect(JSON.stringify(hidden)).toContain('Input Data Not Available');
      expect(JSON.stringify(hidden)).toContain('FILE not in the catalogue');
    });

    it('is there for who may see it', async () => {
      const manifest = { Executable: '/bin/true', InputData: ['LFN:/vo/secret/plan'] };
      const [jid = 0] = await submit(alice, [manifest]);
      const seen = await eventually(async () => {
        const { body } = await alice.get(`/jobs/${jid}`);
        return ['Received', 'Checking'].includes(body.status) ? undefined : body;
      }, 'the job to be admitted');
      expect(seen.minorStatus).not.toBe('Input Data Not Available');
    });
  });
});

describe('a root that may not be read', () => {
  it('is there for everybody, and everything below it is hidden', async () => {
    const grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
    try {
      await grid.sql(`update catalogue_directory set mode = 448 where path = '/'`);
      const bob = await grid.as('bob');
      const answers = await Promise.all([
        bob.get('/filecatalogue/directory'),
        bob.get('/filecatalogue/metadata'),
        bob.get(routes.directory('/vo')),
        bob.get(routes.directory('/nothing')),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 404, 404]);
    } finally {
      await grid.remove();
    }
  });
});
