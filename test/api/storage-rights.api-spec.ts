import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StorageWish } from '#src/auth/index.js';
import { CatalogueStorageRights } from '../../src/file-catalogue/namespace/storage-rights.service.js';
import { runs, seed } from '../support/counts.js';
import { scratchCatalogue, type ScratchCatalogue } from '../support/scratch-catalogue.js';

/** A directory of a tree, as its line in a bulk. */
interface Directory {
  path: string;
  owner: 'alice' | 'bob';
  group: 'grid_user' | 'grid_share';
  mode: number;
}

const NAMES = ['vo', 'vox', 'a'];
const PATHS = ['', ...NAMES].flatMap((one) =>
  ['', ...NAMES].flatMap((two) => (one === '' ? [] : [[one, two].filter(Boolean).join('/')])),
);
const ALL = [...new Set(PATHS.map((path) => `/${path}`))];

const directory = (path: string): fc.Arbitrary<Directory> =>
  fc.record({
    path: fc.constant(path),
    owner: fc.constantFrom('alice' as const, 'bob' as const),
    group: fc.constantFrom('grid_user' as const, 'grid_share' as const),
    mode: fc.constantFrom(0o777, 0o755, 0o775, 0o700, 0o750, 0o770, 0o711),
  });

/** Each directory of a tree with those above it. */
const trees = fc
  .subarray(ALL)
  .map((paths) => {
    const closed = paths.flatMap((path) => [path, `/${path.split('/')[1]}`]);
    return [...new Set(closed)].sort();
  })
  .chain((paths) => fc.tuple(...paths.map(directory)));

const wishes = fc.array(
  fc.record({
    path: fc.constantFrom('/', ...ALL, '/vo/a/new/deep', '/new'),
    right: fc.constantFrom('read' as const, 'write' as const),
  }),
  { minLength: 1, maxLength: 8 },
);

/** The root is as a fresh catalogue has it. */
const ROOT = { path: '/', owner: 'root', group: 'root', mode: 0o755 };

/** What POSIX says, directory by directory, with nothing remembered and nothing skipped. */
function isOpen(
  tree: readonly Directory[],
  { path, right }: StorageWish,
  { group, managed }: { group: string; managed: string | undefined },
): boolean {
  const below = (top: string, one: string): boolean =>
    top === '/' || `${one}/`.startsWith(`${top}/`);
  if (managed !== undefined && below(managed, path)) return true;
  const all = [ROOT, ...tree];
  const may = (one: (typeof all)[number], bit: number): boolean => {
    const shift = one.owner === 'alice' ? 6 : one.group === group ? 3 : 0;
    return ((one.mode >> shift) & bit) !== 0;
  };
  const above = all.filter((one) => below(one.path, path));
  const nearest = above.reduce((a, b) => (b.path.length > a.path.length ? b : a));
  const inside = all.filter((one) => below(path, one.path));
  const isManaged = (one: { path: string }): boolean =>
    managed !== undefined && below(managed, one.path);
  const needed = inside.filter((one) => !isManaged(one));
  if (![...above, ...needed].every((one) => may(one, 4))) return false;
  return right === 'read' || [nearest, ...needed].every((one) => may(one, 2));
}

describe('what the catalogue says of storage scopes', () => {
  let catalogue: ScratchCatalogue;
  let rights: CatalogueStorageRights;

  beforeAll(async () => {
    catalogue = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'false' });
    rights = new CatalogueStorageRights(catalogue.database, catalogue.policy);
  });
  afterAll(() => catalogue?.remove());

  async function plant(tree: readonly Directory[]): Promise<void> {
    await catalogue.clear();
    const lines = await catalogue.reader.read(
      tree.map((one) => ({ kind: 'directory', ...one, mode: one.mode })),
    );
    const outcomes = await catalogue.writer.apply(
      await catalogue.policy.systemActor(),
      lines.map((line) => {
        if (line instanceof Error) throw line;
        return line;
      }),
    );
    expect(outcomes).toEqual(tree.map(() => 'created'));
  }

  const group = (name: string, isManager: boolean) => ({
    name,
    vo: 'vo',
    properties: new Set(
      isManager ? (['FileCatalogManagement'] as const) : (['NormalUser'] as const),
    ),
    members: ['alice'],
    idpScopes: [],
  });

  it('is what the bits of every directory on the way and below say, for any tree', async () => {
    await fc.assert(
      fc.asyncProperty(trees, wishes, fc.boolean(), async (tree, asked, isManager) => {
        await plant(tree);
        const who = { user: 'alice', group: group('grid_user', isManager) };
        const managed = isManager ? '/vo' : undefined;
        const expected = asked.map((wish) => isOpen(tree, wish, { group: 'grid_user', managed }));
        expect(await rights.allowed(who, asked)).toEqual(expected);
      }),
      { numRuns: runs(200), seed },
    );
  });

  it('is nothing for what is no path of the catalogue, and for names that it does not know', async () => {
    await plant([{ path: '/vo', owner: 'alice', group: 'grid_user', mode: 0o700 }]);
    const who = { user: 'alice', group: group('grid_user', false) };
    const wish = (path: string) => ({ path, right: 'read' as const });
    const long = `/${'x'.repeat(5_000)}`;
    expect(await rights.allowed(who, [wish(long), wish('/vo')])).toEqual([false, true]);
    const stranger = { user: 'nobody', group: group('unknown', false) };
    expect(await rights.allowed(stranger, [wish('/vo'), wish('/')])).toEqual([false, false]);
    expect(await rights.allowed(who, [])).toEqual([]);
  });
});
