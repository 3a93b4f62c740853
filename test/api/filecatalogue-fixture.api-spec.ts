import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueryValues, readQuery } from '#src/http/index.js';
import { ConditionsQuery } from '../../src/file-catalogue/metadata/conditions.query.js';
import { ValuesQuery } from '../../src/file-catalogue/compatible-values/values.query.js';
import { demoLines } from '../../src/file-catalogue/demo/demo-catalogue.js';
import {
  caller,
  scratchCatalogue,
  written,
  type ScratchCatalogue,
} from '../support/scratch-catalogue.js';

const alice = caller('alice', 'grid_user');
let grid: ScratchCatalogue;

beforeAll(async () => {
  grid = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'true' });
  const lines = [...demoLines()];
  const small = lines.slice(
    0,
    lines.findIndex((line) => line['name'] === 'campaign'),
  );
  const actor = await grid.policy.systemActor();
  await grid.writer.apply(actor, (await grid.reader.read(small)) as never);
});

afterAll(() => grid?.remove());

async function metadata(search: string): Promise<unknown> {
  const wanted = {
    path: '/',
    shape: 'fields' as const,
    ...readQuery(ValuesQuery, new QueryValues(search)),
  };
  return JSON.parse(await written((writer) => grid.values.write(alice, wanted, writer)));
}

async function directoryMetadata(path: string, search = ''): Promise<unknown> {
  const wanted = {
    path,
    shape: 'lists' as const,
    ...readQuery(ValuesQuery, new QueryValues(search)),
  };
  return JSON.parse(await written((writer) => grid.values.write(alice, wanted, writer)));
}

async function search(path: string, query = ''): Promise<unknown> {
  const { conditions } = readQuery(ConditionsQuery, new QueryValues(query));
  return JSON.parse(
    await written((writer) => grid.search.writeTree(alice, { path, conditions }, writer)),
  );
}

const int = (...values: number[]): unknown => ({ type: 'int', values });
const string = (...values: string[]): unknown => ({ type: 'string', values });

describe('the worked example (exact rule for compatible values)', () => {
  it.each([
    [
      '',
      {
        colour: string('red'),
        energy: int(100, 250),
        particle: string('e', 'mu'),
        project: string('Z'),
        run: int(1, 2, 3),
        size: int(9),
      },
    ],
    ['particle=in|mu', { energy: int(250), particle: string('mu'), run: int(3) }],
    ['run=<=|2', { energy: int(100), particle: string('e'), run: int(1, 2) }],
    [
      'particle=in|e,mu&run=>|1',
      { energy: int(100, 250), particle: string('e', 'mu'), run: int(2, 3) },
    ],
    ['energy=>|500', {}],
    ['colour=in|red&size==|9', {}],
    ['colour=in|red', { colour: string('red'), project: string('Z') }],
    ['run=>|1&run=<|3', { energy: int(100), particle: string('e'), run: int(2) }],
    ['particle=nin|e&energy=!=|7', { energy: int(250), particle: string('mu'), run: int(3) }],
  ])('GET /filecatalogue/metadata?%s', async (query, answer) => {
    expect(await metadata(query)).toEqual(answer);
  });

  it('caps and counts values', async () => {
    expect(await metadata('maxValues=2&energy=>|0')).toEqual({
      energy: { type: 'int', values: [100, 250], total: 2, min: 100, max: 250 },
      particle: { type: 'string', values: ['e', 'mu'], total: 2, min: 'e', max: 'mu' },
      run: { type: 'int', values: [1, 2], total: 3, min: 1, max: 3 },
    });
    expect(await metadata('maxValues=1')).toMatchObject({
      run: { type: 'int', values: [1], total: 3, min: 1, max: 3 },
    });
    expect(await metadata('counts=true&particle=in|e')).toEqual({
      energy: { type: 'int', values: [{ value: 100, directories: 3 }] },
      particle: { type: 'string', values: [{ value: 'e', directories: 3 }] },
      run: {
        type: 'int',
        values: [
          { value: 1, directories: 1 },
          { value: 2, directories: 1 },
        ],
      },
    });
  });

  it.each([
    [
      '/vo',
      'particle=in|e',
      {
        f: 0,
        s: 0,
        d: { a: { f: 3, s: 60, d: { run1: { f: 2, s: 30 }, run2: { f: 1, s: 30 } } } },
      },
    ],
    [
      '/vo/a',
      'particle=in|e',
      { f: 3, s: 60, d: { run1: { f: 2, s: 30 }, run2: { f: 1, s: 30 } } },
    ],
    ['/vo/a/run1', 'energy==|100', { f: 2, s: 30 }],
    ['/', 'run==|3', { f: 0, s: 0, d: { vo: { d: { b: { d: { run3: { f: 2, s: 90 } } } } } } }],
    ['/vo/b', 'particle=in|e', { f: 0, s: 0 }],
    ['/vo/c', '', { f: 1, s: 60 }],
    ['/vo/pq', 'project=in|Z&colour=in|red', { f: 0, s: 0, d: { x: { f: 0, s: 0 } } }],
    ['/', "particle=in|' or true --", { f: 0, s: 0 }],
  ])('search below %s with %s', async (path, query, answer) => {
    expect(await search(path, query)).toEqual(answer);
  });

  it.each([
    ['/vo/a/run1', '', { energy: [100], particle: ['e'], run: [1] }],
    ['/vo/a', '', { energy: [100], particle: ['e'], run: [1, 2] }],
    ['/vo/b', 'run==|1', {}],
    ['/vo/c', '', {}],
  ])('values of %s with %s', async (path, query, answer) => {
    expect(await directoryMetadata(path, query)).toEqual(answer);
  });
});

describe('a field that changes between two searches', () => {
  const late = (more: object): object => ({ kind: 'field', name: 'late', ...more });
  const write = async (lines: object[]): Promise<void> => {
    const actor = await grid.policy.systemActor();
    await grid.writer.apply(actor, (await grid.reader.read(lines as never)) as never);
  };

  it('is what it is now, whatever was remembered of it', async () => {
    await expect(search('/vo', 'late==|1')).rejects.toMatchObject({ status: 400 });
    await write([
      late({ type: 'int' }),
      { kind: 'directory', path: '/vo/c', metadata: { late: 1 } },
    ]);
    expect(await search('/vo/c', 'late==|1')).toEqual({ f: 1, s: 60 });
    await write([late({ op: 'delete' })]);
    await expect(search('/vo', 'late==|1')).rejects.toMatchObject({ status: 400 });
    await write([
      late({ type: 'string' }),
      { kind: 'directory', path: '/vo/c', metadata: { late: '1' } },
    ]);
    await expect(search('/vo', 'late==|1')).rejects.toMatchObject({ status: 400 });
    expect(await search('/vo/c', 'late=in|1')).toEqual({ f: 1, s: 60 });
    await write([late({ op: 'delete' }), late({ type: 'int' })]);
    await expect(search('/vo/c', 'late=in|1')).rejects.toMatchObject({ status: 400 });
    expect(await search('/vo/c', 'late==|1')).toEqual({ f: 0, s: 0 });
    await write([late({ op: 'delete' })]);
  });
});
