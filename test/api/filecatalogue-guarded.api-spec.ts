import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  change,
  conditions,
  path as anyPath,
  user,
  type Change,
} from '../support/catalogue/arbitraries.js';
import {
  HttpCatalogue,
  isHidden,
  linesOf,
  queryOf,
  routes,
  statusOf,
  treeOf,
} from '../support/catalogue/http-catalogue.js';
import {
  CatalogueModel,
  type ModelActor,
  type ModelCondition,
} from '../support/catalogue/model.js';
import { runs, seed } from '../support/counts.js';
import { startGrid, type GridClient } from '../support/testbed.js';

const SAMPLING = { numRuns: runs(20), seed, endOnFailure: true };
const MOST_STARTS = 4;
const LINES = { headers: { accept: 'application/x-ndjson' } };

let catalogue: HttpCatalogue;

beforeAll(async () => {
  const grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
  catalogue = new HttpCatalogue(grid);
});

afterAll(() => catalogue?.grid.remove());

const session = fc.array(fc.tuple(user, fc.array(change, { minLength: 2, maxLength: 14 })), {
  minLength: 2,
  maxLength: 5,
});

/** Writes the changes through HTTP and into a model that knows the rules. */
async function replay(batches: [ModelActor, Change[]][]): Promise<CatalogueModel> {
  await catalogue.reset();
  const model = new CatalogueModel();
  model.putDirectory({ user: 'root', group: 'root', isManager: true }, '/', { mode: 0o777 });
  for (const [actor, changes] of batches) {
    await catalogue.write(actor, changes);
    for (const line of changes) apply(model, actor, line);
  }
  return model;
}

function apply(model: CatalogueModel, actor: ModelActor, line: Change): void {
  const place = line.kind === 'file' ? parentOf(line.path) : line.path;
  if (isHidden(model, actor, place)) return;
  if (line.op === 'delete') model.delete(actor, line.kind, line.path);
  else if (line.kind === 'file') model.putFile(actor, line.path, line.size);
  else model.putDirectory(actor, line.path, { mode: line.mode, values: line.metadata });
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function some<T>(all: T[]): T[] {
  const step = Math.ceil(all.length / MOST_STARTS);
  return all.filter((_each, index) => index % step === 0);
}

/** Values and counts of the model as the routes answer them. */
function valuesOf(model: CatalogueModel, start: string, list: ModelCondition[], who: ModelActor) {
  const found = [...model.compatible(start, list, who)].sort(([a], [b]) => (a < b ? -1 : 1));
  const counted = found.map(([field, values]) => {
    const all = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
    return [field, all.map(([value, directories]) => ({ value, directories }))] as const;
  });
  return {
    counts: Object.fromEntries(counted),
    lists: Object.fromEntries(
      counted.map(([field, values]) => [field, values.map(({ value }) => value)]),
    ),
  };
}

async function checkDirectory(
  client: GridClient,
  model: CatalogueModel,
  [who, start, lists]: [ModelActor, string, ModelCondition[][]],
): Promise<void> {
  const status = statusOf(model, who, start);
  const route = routes.directory(start);
  const listing = await client.get(route);
  expect([start, listing.status]).toEqual([start, status]);
  if (status === 200) expect(listing.body).toEqual(contentsOf(model, who, start));
  for (const list of lists) {
    const query = queryOf(list);
    const tree = await client.get(`${route}/search`, { query });
    const lines = await client.get(`${route}/search`, { query, ...LINES });
    const values = await client.get(`${route}/metadata`, { query });
    const counts = await client.get(`${route}/metadata`, { query: `counts=true&${query}` });
    const answers = [tree, lines, values, counts];
    expect(answers.map((answer) => answer.status)).toEqual([status, status, status, status]);
    if (status !== 200) continue;
    const found = model.search(start, list, who);
    expect(tree.body).toEqual(treeOf(start, found));
    const flat = linesOf(lines).map(({ path, files, size }) => [path, { f: files, s: size }]);
    expect(new Map(flat as never)).toEqual(found);
    const expected = valuesOf(model, start, list, who);
    expect(values.body).toEqual(expected.lists);
    expect(counts.body).toEqual(expected.counts);
    if (start !== '/') continue;
    const fields = (await client.get('/filecatalogue/metadata', { query })).body;
    const plain = Object.entries<any>(fields).map(([name, field]) => [name, field.values]);
    expect(Object.fromEntries(plain)).toEqual(expected.lists);
  }
}

function contentsOf(model: CatalogueModel, who: ModelActor, start: string): unknown {
  const directories = [...model.directories.keys()].filter(
    (path) => path !== '/' && parentOf(path) === start && model.isReadable(who, path),
  );
  const files = [...(model.directories.get(start)?.files ?? [])];
  return {
    SubDirs: Object.fromEntries(directories.map((path) => [nameOf(path), true])),
    Files: Object.fromEntries(
      files.map(([name, { size }]) => [
        name,
        { MetaData: expect.objectContaining({ Size: size, Type: 'File' }) },
      ]),
    ),
  };
}

async function checkFile(
  client: GridClient,
  model: CatalogueModel,
  [who, path]: [ModelActor, string],
): Promise<void> {
  const directory = parentOf(path);
  const known = model.directories.get(directory)?.files.get(nameOf(path));
  const status = known && !isHidden(model, who, directory) ? 200 : 404;
  const attributes = await client.get(`${routes.file(path)}/attributes`);
  const own = await client.get(`${routes.file(path)}/metadata`);
  const all = await client.get(`${routes.file(path)}/metadata?inherited=true`);
  expect([path, attributes.status, own.status, all.status]).toEqual([path, status, status, status]);
  if (status !== 200) return;
  expect(attributes.body).toMatchObject({ Size: known?.size });
  expect(own.body).toEqual({});
  const holding = ['i', 'j', 'f', 's'].map((field) => [field, model.effective(directory, field)]);
  expect(all.body).toEqual(Object.fromEntries(holding.filter(([, value]) => value !== undefined)));
}

describe('with GRID_CATALOGUE_GLOBAL_READ=false, every route over HTTP', () => {
  it('answers what the reader may see and nothing of the rest: names, values, counts, totals', async () => {
    const asked = fc.array(conditions, { minLength: 1, maxLength: 2 });
    const strangers = fc.array(anyPath, { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(session, user, asked, strangers, async (batches, who, lists, missing) => {
        const model = await replay(batches);
        const client = await catalogue.as(who);
        const starts = [...some([...model.directories.keys()]), ...missing.slice(0, 2)];
        for (const start of starts) await checkDirectory(client, model, [who, start, lists]);
        const files = [...model.directories].flatMap(([path, { files: names }]) =>
          [...names.keys()].map((name) => `${path === '/' ? '' : path}/${name}`),
        );
        for (const path of [...some(files), ...missing]) {
          await checkFile(client, model, [who, path]);
        }
      }),
      SAMPLING,
    );
  }, 900_000);

  it('says the same of what is there and of what is not, below what may not be read', async () => {
    await replay([
      [
        { user: 'alice', group: 'grid_user', isManager: false },
        [
          { kind: 'directory', op: 'put', path: '/secret', mode: 0o700, metadata: { s: 'x' } },
          { kind: 'directory', op: 'put', path: '/secret/project', metadata: { i: 3 } },
          { kind: 'file', op: 'put', path: '/secret/project/plan', size: 10 },
        ],
      ],
    ]);
    const bob = await catalogue.grid.as('bob', 'grid_share');
    const told = async (directory: string, name: string): Promise<unknown[]> => {
      const path = `${directory}/${name}`;
      const all = await Promise.all([
        bob.get(routes.directory(directory)),
        bob.get(`${routes.directory(directory)}/search`, { query: 'i==|3' }),
        bob.get(`${routes.directory(directory)}/metadata`, { query: 'maxValues=1' }),
        bob.get(`${routes.file(path)}/attributes`),
        bob.get(`${routes.file(path)}/metadata`, { query: 'inherited=true' }),
      ]);
      return all.map(({ status, body }) => [status, { ...body, instance: '' }]);
    };
    const there = await told('/secret/project', 'plan');
    const directory = expect.objectContaining({ code: 'catalogue.directory-not-found' });
    const file = expect.objectContaining({ code: 'catalogue.file-not-found' });
    expect(there).toEqual([directory, directory, directory, file, file].map((body) => [404, body]));
    const elsewhere = JSON.stringify(await told('/nothing/project', 'plan'));
    expect(JSON.stringify(there).replaceAll('/secret/', '/nothing/')).toEqual(elsewhere);
    expect((await bob.get('/filecatalogue/metadata')).body).toEqual({});
    expect((await bob.get(`${routes.directory('/')}/search`)).body).toEqual({ f: 0, s: 0 });
  });

  it('counts directories of a range that a hidden one cuts in two', async () => {
    const alice: ModelActor = { user: 'alice', group: 'grid_user', isManager: false };
    const names = ['a', 'b', 'c', 'd'];
    const model = await replay([
      [
        alice,
        [
          { kind: 'directory', op: 'put', path: '/x', metadata: { i: 1 } },
          ...names.map((name): Change => ({
            kind: 'directory',
            op: 'put',
            path: `/x/${name}`,
            mode: name === 'b' ? 0o700 : 0o755,
          })),
          { kind: 'directory', op: 'put', path: '/y/z', metadata: { i: 2 } },
        ],
      ],
    ]);
    const bob: ModelActor = { user: 'bob', group: 'grid_share', isManager: false };
    const client = await catalogue.as(bob);
    await checkDirectory(client, model, [bob, '/', [[]]]);
    const { body } = await client.get('/filecatalogue/metadata', { query: 'counts=true' });
    expect(body.i.values).toEqual([
      { value: 1, directories: 4 },
      { value: 2, directories: 1 },
    ]);
  });
});

/** Every value that stands anywhere in the model, as a condition that asks for it alone. */
function everyValue(model: CatalogueModel): ModelCondition[] {
  const seen = new Map<string, ModelCondition>();
  for (const { values } of model.directories.values()) {
    for (const [field, value] of values) {
      const operator = typeof value === 'string' ? 'in' : '=';
      seen.set(JSON.stringify([field, value]), { field, operator, operands: [value] });
    }
  }
  return [...seen.values()];
}

describe('compatible values', () => {
  it('each one offered leads to a match as a further condition, each other one to none', async () => {
    await fc.assert(
      fc.asyncProperty(session, user, conditions, async (batches, who, list) => {
        const model = await replay(batches);
        const client = await catalogue.as(who);
        for (const start of some([...model.directories.keys()])) {
          if (statusOf(model, who, start) !== 200) continue;
          const route = routes.directory(start);
          const offered = (await client.get(`${route}/metadata`, { query: queryOf(list) })).body;
          for (const value of everyValue(model)) {
            const query = queryOf([...list, value]);
            const found = linesOf(await client.get(`${route}/search`, { query, ...LINES }));
            const isOffered = (offered[value.field] ?? []).includes(value.operands[0]);
            expect([start, query, found.length > 0]).toEqual([start, query, isOffered]);
          }
        }
      }),
      SAMPLING,
    );
  }, 900_000);
});
