import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { silentLog } from '../support/silent-log.js';
import { silentLogger } from '../support/catalogue/silent-logger.js';
import {
  BulkService,
  type BulkSummary,
  type FailedLine,
} from '../../src/file-catalogue/exchange/bulk.service.js';
import { ExportService } from '../../src/file-catalogue/exchange/export.service.js';
import { ImportService } from '../../src/file-catalogue/exchange/import.service.js';
import { TotalsAggregator } from '../../src/file-catalogue/totals/totals-aggregator.service.js';
import { VerificationService } from '../../src/file-catalogue/totals/verification.service.js';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import { change, MODEL_FIELDS, path } from '../support/catalogue/arbitraries.js';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Scheduler } from '../../src/runtime/index.js';
import { runs, seed } from '../support/counts.js';
import { scratchCatalogue, type ScratchCatalogue } from '../support/scratch-catalogue.js';

let grid: ScratchCatalogue;
let imports: ImportService;
let exports_: ExportService;
let moves: MoveService;
let verification: VerificationService;
let aggregator: TotalsAggregator;

beforeAll(async () => {
  grid = await scratchCatalogue({ GRID_CATALOGUE_GLOBAL_READ: 'true' });
  const scheduler = new Scheduler(new SchedulerRegistry(), grid.database, silentLogger());
  aggregator = new TotalsAggregator(grid.database, scheduler);
  imports = new ImportService(new BulkService(grid.reader, grid.writer), grid.policy, aggregator);
  exports_ = new ExportService(grid.database, grid.names);
  moves = new MoveService(grid.database, silentLog());
  verification = new VerificationService(grid.database);
});

afterAll(() => grid?.remove());
beforeEach(() => grid.clear());

function bytes(text: string | Buffer): AsyncIterable<Uint8Array> {
  const all = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < all.length; at += 7) pieces.push(all.subarray(at, at + 7));
  return Readable.from(pieces);
}

type Imported = BulkSummary & { failures: FailedLine[] };

async function load(
  text: string | Buffer,
  format: 'ndjson' | 'dirac' | 'rucio' = 'ndjson',
  prefix?: string,
): Promise<Imported> {
  const failures: FailedLine[] = [];
  const summary = await imports.import(
    { source: bytes(text), format, prefix },
    { failed: (line) => void failures.push(line) },
  );
  return { ...summary, failures };
}

async function dump(from = '/'): Promise<string> {
  let text = '';
  await exports_.export(from, {
    write: (piece) => {
      text += piece;
      return Promise.resolve();
    },
  });
  return text;
}

const ndjson = (lines: object[]): string => lines.map((line) => JSON.stringify(line)).join('\n');
const fields = MODEL_FIELDS.map(([name, type]) => ({ kind: 'field', name, type }));

async function expectExact(): Promise<void> {
  const report = await verification.verify();
  expect(report.descriptions).toEqual([]);
  expect(report.faults).toBe(0);
}

describe('export and import', () => {
  it('give the same catalogue back, and change nothing the second time', async () => {
    await load(
      ndjson([
        ...fields,
        {
          kind: 'directory',
          path: "/a/it's 100%",
          owner: 'bob',
          group: 'grid_share',
          mode: 488,
          metadata: { i: 3, s: 'z|' },
        },
        {
          kind: 'file',
          path: "/a/it's 100%/日本",
          size: 9007199254740990,
          checksum: 'ad8b1f02',
          guid: 'G-1',
          metadata: { note: 'a, b' },
          replicas: [{ se: 'SE-A', pfn: 'srm://x' }, { se: 'SE-B' }],
        },
        { kind: 'file', path: '/a/g', size: 0 },
      ]),
    );
    const first = await dump();
    expect(first.split('\n').filter((line) => line !== '')).toHaveLength(4 + 3 + 2);
    await grid.clear();
    expect(await load(first)).toMatchObject({ lines: 9, failed: 0, failures: [] });
    expect(await dump()).toBe(first);
    expect(await load(first)).toEqual({
      lines: 9,
      created: 0,
      updated: 0,
      unchanged: 9,
      failed: 0,
      failures: [],
    });
    await expectExact();
  });

  it('while the tree changes: each entry once and whole, all that stayed, and it can be imported', async () => {
    const name = (n: number): string => `/e/d${String(n).padStart(4, '0')}`;
    const made = Array.from({ length: 1_500 }, (_, n) => [
      { kind: 'directory', path: name(n) },
      { kind: 'file', path: `${name(n)}/${'f'.repeat(150)}`, size: n },
    ]);
    await load(ndjson(made.flat()));
    let text = '';
    await exports_.export('/e', {
      write: async (piece) => {
        const isFirst = text === '';
        text += piece;
        if (!isFirst) return;
        const changed = await load(
          ndjson([
            { kind: 'file', op: 'delete', path: `${name(1_400)}/${'f'.repeat(150)}` },
            { kind: 'directory', op: 'delete', path: name(1_400) },
            { kind: 'file', op: 'delete', path: `${name(0)}/${'f'.repeat(150)}` },
            { kind: 'field', name: 'since', type: 'int' },
            { kind: 'directory', path: name(1_300), metadata: { since: 7 } },
            { kind: 'directory', path: `${name(1_450)}/further` },
          ]),
        );
        expect(changed.failures).toEqual([]);
      },
    });
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const paths = lines.flatMap(({ path: one }) => one ?? []);
    expect(new Set(paths).size).toBe(paths.length);
    const stayed = made.flat().map((line) => line.path);
    const gone = stayed.filter((one) => !paths.includes(one));
    expect(gone).toEqual([name(1_400), `${name(1_400)}/${'f'.repeat(150)}`]);
    expect(lines.find(({ path: one }) => one === name(1_300))).toMatchObject({
      metadata: { since: 7 },
    });
    expect(paths).toContain(`${name(1_450)}/further`);
    await grid.clear();
    expect(await load(text)).toMatchObject({ lines: lines.length, failed: 0, failures: [] });
    await expectExact();
  });

  it('keeps names that objects have of their own', async () => {
    const metadata = '{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}';
    const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
    const text = [
      ...names.map((name) => `{"kind":"field","name":"${name}","type":"int"}`),
      `{"kind":"directory","path":"/of","metadata":${metadata}}`,
      `{"kind":"directory","path":"/of/__proto__"}`,
      `{"kind":"file","path":"/other/constructor","size":1,"metadata":${metadata}}`,
    ].join('\n');
    expect(await load(text)).toMatchObject({ created: 7, failed: 0, failures: [] });
    const found = new Map<string, string[][]>();
    for (const line of (await dump()).trim().split('\n')) {
      const { kind, path, metadata: kept = {} } = JSON.parse(line);
      if (kind !== 'field') found.set(path, Object.entries(kept as object).sort());
    }
    const expected = Object.entries(JSON.parse(metadata) as object).sort();
    expect(Object.fromEntries(found)).toMatchObject({
      '/of': expected,
      '/of/__proto__': [],
      '/other/constructor': expected,
    });
  });

  it('refuses to export what does not exist', async () => {
    await expect(dump('/none')).rejects.toMatchObject({ code: 'catalogue.directory-not-found' });
  });

  it.each([
    ['dirac', 'LFN,Size,Checksum,SE\n"/vo/a,1/f",10,ad8b1f02,SE-A\nLFN:/vo/g,20,,\n'],
    ['dirac', '/vo/a,1/f;10;ad8b1f02;;SE-A\n/vo/g;20\n'.replaceAll(';', '\t')],
    [
      'rucio',
      'rse\tscope\tname\tadler32\tbytes\tpath\nSE-A\tvo\ta,1/f\tad8b1f02\t10\t/data/xy\nSE-A\tany\t/vo/g\t\t20\t/x\n',
    ],
    ['rucio', 'SE-A\tvo\ta,1/f\tad8b1f02\t10\nSE-A\tvo\tg\t\\N\t20\n'],
  ] as const)('reads a %s listing', async (format, text) => {
    expect(await load(text, format)).toMatchObject({ lines: 2, created: 2, failed: 0 });
    const lines = (await dump('/vo')).split('\n').filter((line) => line.includes('"file"'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ path: '/vo/g', size: 20 }),
      expect.objectContaining({
        path: '/vo/a,1/f',
        size: 10,
        checksum: 'ad8b1f02',
        checksumType: 'Adler32',
        replicas: [{ se: 'SE-A' }],
      }),
    ]);
  });

  it('refuses rows of a listing that are no UTF-8, each alone', async () => {
    const text = 'path,size\n/vo/née,1\n/vo/f,2\n"/vo/é",3\n';
    const found = await load(Buffer.from(text, 'latin1'), 'dirac');
    expect(found).toMatchObject({ lines: 3, created: 1, failed: 2 });
    expect(found.failures).toEqual([
      { line: 2, status: 400, code: 'request.invalid', detail: 'line: is not valid UTF-8' },
      { line: 4, status: 400, code: 'request.invalid', detail: 'line: is not valid UTF-8' },
    ]);
  });

  it.each(['utf8', 'utf16le'] as const)(
    'takes a listing with a byte order mark in %s',
    async (encoding) => {
      const text = Buffer.from('\ufeffpath,size\n/vo/née,1\n', encoding);
      expect(await load(text, 'dirac')).toMatchObject({ lines: 1, created: 1, failed: 0 });
      expect(await grid.namespace.existing(['/vo/née'])).toEqual(new Set(['/vo/née']));
    },
  );

  it('keeps the cells of a listing that are in quotes as they are, and takes blanks from others', async () => {
    const text = 'path,size\n /vo/a ,1\n" /vo/b",2\n"/vo/c ",3\n"LFN:/vo/d",4\n';
    const found = await load(text, 'dirac');
    expect(found).toMatchObject({ lines: 4, created: 3, failed: 1 });
    expect(found.failures.map(({ line }) => line)).toEqual([3]);
    const paths = ['/vo/a', '/vo/c ', '/vo/d'];
    expect(await grid.namespace.existing([...paths, '/vo/b', '/vo/c'])).toEqual(new Set(paths));
  });

  it('puts a listing below a prefix and tells broken rows', async () => {
    const found = await load('path,size\n/x/f,1\n/x/g,many\n,3\n', 'dirac', '/vo/new');
    expect(found).toMatchObject({ lines: 3, created: 1, failed: 2 });
    expect(found.failures.map(({ status, line }) => [status, line])).toEqual([
      [400, 3],
      [400, 4],
    ]);
    expect(await grid.namespace.existing(['/vo/new/x/f'])).toEqual(new Set(['/vo/new/x/f']));
  });
});

describe('moving a subtree', () => {
  beforeEach(async () => {
    await load(
      ndjson([
        ...fields,
        { kind: 'directory', path: '/a/b', metadata: { i: 1 } },
        { kind: 'directory', path: '/a/b/c', mode: 448, metadata: { s: 'x' } },
        { kind: 'file', path: '/a/b/c/f', size: 5 },
        { kind: 'directory', path: '/t/u', metadata: { j: 2 } },
        { kind: 'directory', path: '/v', metadata: { i: 9 } },
      ]),
    );
  });

  it('keeps files, metadata and totals, pending ones too', async () => {
    await grid.writer.apply(await grid.policy.systemActor(), [
      { kind: 'file', op: 'put', path: '/a/b/g', size: 7 },
    ]);
    expect(await moves.move('/a/b', '/t/u/é')).toBe(2);
    await expectExact();
    expect(await grid.namespace.existing(['/t/u/é/c/f', '/t/u/é/g', '/a/b/g'])).toEqual(
      new Set(['/t/u/é/c/f', '/t/u/é/g']),
    );
    await aggregator.aggregate();
    await expectExact();
    expect(await moves.move('/t/u/é', '/t/u/é')).toBe(0);
    await load(
      ndjson([
        { kind: 'directory', path: '/t/u/next' },
        { kind: 'directory', path: '/t/u/é/d' },
      ]),
    );
    await expectExact();
  });

  it.each([
    ['/none', '/x', 404],
    ['/a/b', '/none/x', 404],
    ['/a/b', '/a/b/c/d', 400],
    ['/a/b', '/t', 409],
    ['/a/b', '/v/x', 409],
    ['/', '/x', 400],
    ['/a/b', '/x/..', 400],
    ['/a/b', `/t${'/n'.repeat(99)}`, 404],
  ])('refuses %s to %s', async (from, to, status) => {
    await expect(moves.move(from, to)).rejects.toMatchObject({ status });
    await expectExact();
  });
});

describe('verify', () => {
  it('finds everything exact after random changes and moves, before and after aggregation', async () => {
    const step = fc.oneof(
      fc.array(change, { minLength: 1, maxLength: 15 }),
      fc.tuple(path, path).map(([from, to]) => ({ from, to })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        await grid.clear();
        await load(ndjson(fields));
        for (const each of steps) {
          if (Array.isArray(each)) await load(ndjson(each));
          else await moves.move(each.from, each.to).catch(() => undefined);
        }
        await expectExact();
        await aggregator.aggregate();
        await expectExact();
      }),
      { numRuns: runs(40), seed, endOnFailure: true },
    );
  });

  it('stays exact while many writers and the aggregator work at once', async () => {
    await load(ndjson(fields));
    const actor = await grid.policy.systemActor();
    const worker = async (number: number): Promise<void> => {
      for (let n = 0; n < 25; n += 1) {
        const at = `/w/d${(number + n) % 5}`;
        const name = `${at}/f${number}-${n % 6}`;
        await grid.writer.apply(actor, [
          { kind: 'file', op: 'put', path: name, size: n },
          ...(n % 3 === 0 ? [{ kind: 'file' as const, op: 'delete' as const, path: name }] : []),
          ...(n % 4 === 0
            ? [
                {
                  kind: 'directory' as const,
                  op: 'put' as const,
                  path: at,
                  mustExist: false,
                  metadata: { mode: 'merge' as const, values: [['i', n] as const] },
                },
              ]
            : []),
          ...(n % 7 === 0 ? [{ kind: 'directory' as const, op: 'delete' as const, path: at }] : []),
        ]);
      }
    };
    let isDone = false;
    const aggregating = (async () => {
      while (!isDone) await aggregator.aggregate();
    })();
    await Promise.all(Array.from({ length: runs(80) }, (_, number) => worker(number)));
    isDone = true;
    await aggregating;
    await expectExact();
    await aggregator.aggregate();
    await expectExact();
  });

  it('describes what is wrong', async () => {
    await load(ndjson([{ kind: 'file', path: '/a/f', size: 1 }]));
    await grid.database.execute({
      text: `update catalogue_directory set sub_files = 7 where path = '/a'`,
    });
    const report = await verification.verify();
    expect(report).toMatchObject({ directories: 2, files: 1, bytes: 1n, faults: 1 });
    expect(report.descriptions).toEqual(['/a: 7 files stored, 1 counted']);
  });
});
