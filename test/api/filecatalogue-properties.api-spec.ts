import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Property } from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import { DEMO_REGISTRY } from '#src/registry/index.js';
import type {
  CatalogueLine,
  LineOutcome,
} from '../../src/file-catalogue/writing/catalogue-line.js';
import { PLAN_LIMITS } from '../../src/file-catalogue/matching/match-plan.js';
import { FEW_LIMITS } from '../../src/file-catalogue/matching/few-matches.repository.js';
import { NEW_FILES_LIMITS } from '../../src/file-catalogue/writing/new-files.js';
import { aggregatePending } from '../../src/file-catalogue/totals/totals.repository.js';
import { change, conditions, MODEL_FIELDS, type Change } from '../support/catalogue/arbitraries.js';
import { runs, seed } from '../support/counts.js';
import {
  CatalogueModel,
  type ModelActor,
  type ModelBorder,
  type ModelCondition,
  type ModelOutcome,
} from '../support/catalogue/model.js';
import {
  caller,
  scratchCatalogue,
  written,
  type ScratchCatalogue,
} from '../support/scratch-catalogue.js';

const SAMPLING = { numRuns: runs(40), seed, endOnFailure: true };
/** Directories from which every question is asked. */
const MOST_STARTS = 6;
/** A catalogue, and what its rules are for the model; `true` where everybody reads everything. */
interface Ruled extends ScratchCatalogue {
  border: ModelBorder | true;
}
let open: Ruled;
let guarded: Ruled;
let shared: Ruled;
let divided: Ruled;

const VOS = ['a', 'b'];
const TWO_ORGANISATIONS = {
  ...DEMO_REGISTRY,
  groups: [
    ...DEMO_REGISTRY.groups,
    ...VOS.map((vo) => ({
      name: vo,
      vo,
      properties: new Set<Property>(),
      members: [],
      idpScopes: [],
    })),
  ],
};

beforeAll(async () => {
  const made = async (value: string, border: Ruled['border'], contents = DEMO_REGISTRY) => ({
    ...(await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: value }, contents)),
    border,
  });
  open = await made('true', true, TWO_ORGANISATIONS);
  guarded = await made('false', { vos: [], membersReadAll: false });
  shared = await made('vo', { vos: VOS, membersReadAll: true }, TWO_ORGANISATIONS);
  divided = await made('false', { vos: VOS, membersReadAll: false }, TWO_ORGANISATIONS);
});

afterAll(async () => {
  for (const grid of [open, guarded, shared, divided]) await grid?.remove();
});

function principal({ user: name, group, isManager, vo, hasNoBorder }: ModelActor) {
  const more: Property[] = isManager
    ? ['FileCatalogManagement']
    : hasNoBorder
      ? ['JobMonitor']
      : [];
  return caller(name, group, ['NormalUser', ...more], vo);
}

/** Members of two virtual organisations, one of none, and two who reach both. */
const people = fc.constantFrom<ModelActor>(
  { user: 'alice', group: 'grid_user', isManager: false, vo: 'a' },
  { user: 'bob', group: 'grid_share', isManager: false, vo: 'b' },
  { user: 'alice', group: 'grid_share', isManager: false, vo: 'b' },
  { user: 'carol', group: 'grid_user', isManager: false },
  { user: 'mona', group: 'grid_mon', isManager: false, hasNoBorder: true },
  { user: 'fred', group: 'grid_fc', isManager: true },
);

async function prepare(grid: ScratchCatalogue): Promise<void> {
  await grid.clear();
  const system = await grid.policy.systemActor();
  const fields = MODEL_FIELDS.map(([name, type]) => ({ kind: 'field', name, type }));
  const top = { kind: 'directory', path: '/', mode: 0o777 };
  await grid.writer.apply(system, (await grid.reader.read([...fields, top])) as CatalogueLine[]);
}

function emptyModel({ border }: Ruled): CatalogueModel {
  const model = new CatalogueModel(border === true ? undefined : border);
  model.putDirectory({ user: 'root', group: 'root', isManager: true }, '/', { mode: 0o777 });
  return model;
}

async function apply(
  grid: ScratchCatalogue,
  actor: ModelActor,
  changes: Change[],
): Promise<ModelOutcome[]> {
  const writer = await grid.policy.writerOf(principal(actor));
  const lines = (await grid.reader.read(changes)) as CatalogueLine[];
  return (await grid.writer.apply(writer, lines)).map(outcomeOf);
}

function outcomeOf(outcome: LineOutcome): ModelOutcome {
  if (outcome === 'removing') throw new Error('no bytes came through this service');
  return outcome instanceof Problem ? outcome.status : outcome;
}

function applyToModel(model: CatalogueModel, actor: ModelActor, line: Change): ModelOutcome {
  if (line.op === 'delete') return model.delete(actor, line.kind, line.path);
  if (line.kind === 'file') return model.putFile(actor, line.path, line.size);
  return model.putDirectory(actor, line.path, { mode: line.mode, values: line.metadata });
}

const raw = (list: ModelCondition[]) =>
  list.map(({ field, operator, operands }) => ({
    key: field,
    operator,
    operand: operands.join(','),
  }));

async function search(
  grid: ScratchCatalogue,
  actor: ModelActor,
  path: string,
  list: ModelCondition[],
) {
  const text = await written((writer) =>
    grid.search.writeLines(principal(actor), { path, conditions: raw(list) }, writer),
  );
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { path: string; files: number; size: number });
  expect(new Set(lines.map((line) => line.path)).size).toBe(lines.length);
  return new Map(lines.map((line) => [line.path, { f: line.files, s: line.size }]));
}

async function compatible(
  grid: ScratchCatalogue,
  actor: ModelActor,
  path: string,
  list: ModelCondition[],
  counts: boolean,
) {
  const request = { path, conditions: raw(list), shape: 'lists' as const, counts };
  const text = await written((writer) => grid.values.write(principal(actor), request, writer));
  return JSON.parse(text) as Record<string, unknown[]>;
}

function sorted<K, V>(map: Map<K, V>): [K, V][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function compare(
  grid: Ruled,
  model: CatalogueModel,
  reader: ModelActor,
  asked: ModelCondition[][],
) {
  const limits = grid.border === true ? undefined : reader;
  const starts = [...model.directories.keys()];
  const step = Math.ceil(starts.length / MOST_STARTS);
  for (const start of starts.filter((_path, index) => index % step === 0)) {
    if (!model.isReadable(limits, start)) {
      const status = start === '/' ? 403 : 404;
      await expect(search(grid, reader, start, [])).rejects.toMatchObject({ status });
      continue;
    }
    for (const list of asked) {
      const found = await search(grid, reader, start, list);
      expect(sorted(found)).toEqual(sorted(model.search(start, list, limits)));
      const expected = sorted(model.compatible(start, list, limits));
      const values = Object.fromEntries(
        expected.map(([field, counted]) => [field, sorted(counted).map(([value]) => value)]),
      );
      expect(await compatible(grid, reader, start, list, false)).toEqual(values);
      const counted = Object.fromEntries(
        expected.map(([field, each]) => [
          field,
          sorted(each).map(([value, directories]) => ({ value, directories })),
        ]),
      );
      expect(await compatible(grid, reader, start, list, true)).toEqual(counted);
    }
  }
}

const session = fc.array(fc.tuple(people, fc.array(change, { minLength: 1, maxLength: 12 })), {
  minLength: 1,
  maxLength: 5,
});

describe('the catalogue against a brute-force model', () => {
  const usual = { ...PLAN_LIMITS };
  const shortWays = [FEW_LIMITS, NEW_FILES_LIMITS].map((limits) => ({
    limits,
    usual: { ...limits },
  }));

  afterEach(() => {
    Object.assign(PLAN_LIMITS, usual);
    for (const each of shortWays) Object.assign(each.limits, each.usual);
  });

  it.each([
    ['with global reading', () => open],
    ['within virtual organisations', () => shared],
  ])(
    'is the same by the short ways, and where they end, %s',
    async (_what, grid) => {
      Object.assign(FEW_LIMITS, { segments: 2, matches: 2, pending: 3, boundaries: 2 });
      Object.assign(NEW_FILES_LIMITS, { least: 1, most: 3 });
      const asked = fc.array(conditions, { minLength: 1, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(session, people, asked, (batches, reader, questions) =>
          replay(grid(), { batches, reader, questions }),
        ),
        SAMPLING,
      );
    },
    600_000,
  );

  it.each([
    ['with global reading', () => open, usual],
    ['with POSIX bits', () => guarded, usual],
    ['within virtual organisations', () => shared, usual],
    ['with bits within virtual organisations', () => divided, usual],
    ['probing ranges', () => guarded, { fewSegments: 0, fewTimes: 0, manyRanges: 0, firstRows: 2 }],
  ])(
    '%s: outcomes, searches, values, counts and totals are the same, before and after aggregation',
    async (_what, grid, limits) => {
      Object.assign(PLAN_LIMITS, limits);
      const asked = fc.array(conditions, { minLength: 1, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(session, people, asked, (batches, reader, questions) =>
          replay(grid(), { batches, reader, questions }),
        ),
        SAMPLING,
      );
    },
    600_000,
  );
});

interface Replay {
  batches: [ModelActor, Change[]][];
  reader: ModelActor;
  questions: ModelCondition[][];
}

async function replay(grid: Ruled, { batches, reader, questions }: Replay): Promise<void> {
  await prepare(grid);
  const model = emptyModel(grid);
  for (const [actor, changes] of batches) {
    const expected = changes.map((line) => {
      const closed = grid.border === true ? undefined : firstClosed(model, actor, line);
      if (closed !== undefined) return outcomeBehind(model, actor, { line, closed });
      return applyToModel(model, actor, line);
    });
    expect(await apply(grid, actor, changes)).toEqual(expected);
  }
  await compare(grid, model, reader, questions);
  await grid.database.transaction(aggregatePending);
  await compare(grid, model, reader, questions);
}

/** The first directory on the way to what a line changes that the actor may not read. */
function firstClosed(model: CatalogueModel, actor: ModelActor, line: Change): string | undefined {
  if (model.isForeign(actor, line.path)) return line.path.split('/').slice(0, 2).join('/');
  const isFile = line.kind === 'file';
  const parent = line.path.slice(0, line.path.lastIndexOf('/')) || '/';
  const last = isFile && line.op === 'delete' ? parent : line.path;
  const names = last.split('/').filter((name) => name !== '');
  const way = ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)];
  return way.find((at) => model.directories.has(at) && !model.isReadable(actor, at));
}

/** What is not seen is not there: nothing to remove, and no place to make anything in. */
function outcomeBehind(
  model: CatalogueModel,
  actor: ModelActor,
  { line, closed }: { line: Change; closed: string },
): ModelOutcome {
  if (closed === '/') return 403;
  if (line.op === 'delete') return 'absent';
  const above = closed.slice(0, closed.lastIndexOf('/')) || '/';
  return model.mayWrite(actor, above) ? 409 : 403;
}
