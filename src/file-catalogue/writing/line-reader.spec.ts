import { describe, expect, it } from '@jest/globals';
import { Problem, type JsonValue } from '#src/kernel/index.js';
import { LineReader } from './line-reader.service.js';

/** Nobody and nothing is registered. */
const NOBODY = {
  userByName: () => undefined,
  group: () => undefined,
  storageElement: () => undefined,
};
const reader = new LineReader(
  { current: () => Promise.resolve(NOBODY) } as never,
  { ensure: () => Promise.resolve(), known: () => 7 } as never,
);

async function read(line: JsonValue): Promise<unknown> {
  const [read] = await reader.read([line]);
  return read instanceof Problem ? read.detail : read;
}

const FILE = { kind: 'file', path: '/vo/a/f1', size: 10 };

describe('a line of a bulk', () => {
  it('registers a file', async () => {
    const line = { ...FILE, op: 'put', checksum: 'ad8b1f02', guid: 'a-b', mode: 448 };
    expect(await read(line)).toEqual({
      ...{ kind: 'file', op: 'put', path: '/vo/a/f1', size: 10, mode: 448 },
      ...{ checksum: 'ad8b1f02', checksumType: 'Adler32', guid: 'a-b', replicas: new Map() },
    });
    const metadata = { run: 5, note: null };
    expect(await read({ ...FILE, owner: 'root', size: 2n ** 60n, metadata })).toEqual({
      ...{ kind: 'file', op: 'put', path: '/vo/a/f1', size: 2n ** 60n, ownerId: 7 },
      ...{ replicas: new Map(), metadata: { mode: 'merge', values: Object.entries(metadata) } },
    });
  });

  it.each<[JsonValue, object]>([
    [
      { kind: 'directory', path: '/' },
      { op: 'put', mustExist: false },
    ],
    [
      { kind: 'directory', path: '/a', group: 'root' },
      { op: 'put', mustExist: false, groupId: 7, group: undefined },
    ],
    [{ kind: 'directory', op: 'delete', path: '/a', mode: 'x' }, { mode: undefined }],
    [{ kind: 'file', op: 'delete', path: '/a/f', size: -1 }, { size: undefined }],
    [{ kind: 'field', name: 'run', type: 'int' }, { op: 'put' }],
    [{ kind: 'field', op: 'delete', name: 'run', type: 7 }, { type: undefined }],
  ])('%j is read', async (line, more) => {
    expect(await read(line)).toEqual({ ...(line as object), ...more });
  });

  it('is told once of a list that is too long, whatever is in it', async () => {
    const problem = await reader.read([{ ...FILE, replicas: new Array<number>(500_000).fill(0) }]);
    expect(problem).toEqual([
      expect.objectContaining({
        violations: [{ field: 'replicas', problem: 'is not a list of at most 1000' }],
      }),
    ]);
  });

  it.each(['/f1', '/vo/é', '/vo/a/.f', '/vo/a/...', '/vo/a/🗎', `/vo/a/${'x'.repeat(255)}`])(
    'may have the path %s',
    async (path) => {
      expect(await read({ ...FILE, path })).toMatchObject({ path });
    },
  );

  it.each<[JsonValue, string]>([
    ['/', 'path: names a directory'],
    ['', 'path: is not a text'],
    ['vo/a/f1', 'path: must begin with /'],
    ['/vo//f1', 'path: has an empty name (// or / at the end)'],
    ['/vo/a/..', 'path: has a .. segment'],
    ['/vo/a/\0', 'path: is not a text'],
    ['/vo/a/\ud800', 'path: is not valid Unicode'],
    [`/vo/${'é'.repeat(128)}`, 'path: has a name longer than 255 bytes'],
    ['/a'.repeat(101), 'path: is deeper than 100 levels'],
    [7, 'path: is not a text'],
  ])('is refused with the path %j', async (path, fault) => {
    expect(await read({ ...FILE, path })).toBe(fault);
  });

  it.each<[JsonValue, string]>([
    [7, 'line: is not a JSON object'],
    [null, 'line: is not a JSON object'],
    [[FILE], 'line: is not a JSON object'],
    [{ path: '/f', size: 1 }, 'kind: is not one of field, directory, file'],
    [{ ...FILE, kind: 'constructor' }, 'kind: is not one of field, directory, file'],
    [{ ...FILE, op: 'move' }, 'op: is not one of put, delete'],
    [{ kind: 'file', path: '/f' }, 'size: is missing'],
    [{ kind: 'file', size: 1 }, 'path: is missing'],
    [{ kind: 'file', op: 'delete', path: '/' }, 'path: names a directory'],
    [{ ...FILE, size: -1 }, 'size: is not a number of bytes (0 to 2^63-1)'],
    [{ ...FILE, checksum: 'a b' }, 'checksum: is malformed'],
    [{ ...FILE, checksum: 7 }, 'checksum: is not a text'],
    [{ ...FILE, guid: null }, 'guid: is not a text'],
    [{ ...FILE, mode: 512 }, 'mode: is not a decimal number from 0 to 511 (octal 777)'],
    [{ ...FILE, metadata: null }, 'metadata: is not a JSON object'],
    [{ ...FILE, owner: '' }, 'owner: is not a text'],
    [{ ...FILE, owner: 'bob' }, 'owner: bob is not known'],
    [{ ...FILE, a: 1, b: 2 }, 'a: is not known here; b: is not known here'],
    [{ ...FILE, replicas: {} }, 'replicas: is not a list of at most 1000'],
    [{ ...FILE, replicas: [null] }, 'replicas: has an entry without se'],
    [{ ...FILE, replicas: [{ PFN: 'x' }] }, 'replicas: has an entry without se'],
    [{ ...FILE, replicas: [{ se: 'A', PFN: 'x' }] }, 'PFN: is not known here'],
    [{ ...FILE, replicas: [{ se: 'A', pfn: 'x'.repeat(4097) }] }, 'pfn: is too long'],
    [{ ...FILE, replicas: [{ se: 'A' }] }, 'replicas: A is not known'],
    [{ kind: 'field', name: 'run' }, 'type: is not one of int, float, string, date'],
    [{ kind: 'directory', path: '/a', size: 1 }, 'size: is not known here'],
  ])('%j is refused', async (line, fault) => {
    expect(await read(line)).toBe(fault);
  });
});
