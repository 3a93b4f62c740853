import * as fc from 'fast-check';
import { stringifyJson } from '#src/kernel/index.js';
import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { runs, seed } from '../../../test/support/counts.js';
import { readManifest, type ManifestContext } from './manifest.js';
import { fillTemplate, readTemplate } from './parametric.js';
import { manifestOf, SharedManifest } from './stored-manifest.js';

const context: ManifestContext = {
  user: 'alice',
  dn: '',
  group: 'g',
  setup: 'Prod',
  vo: 'vo',
  sites: new Set(['A']),
  siteList: [{ name: 'A', backend: 'slurm', options: {} }],
  files: ['in.txt'],
  maxInputData: 10,
  storageElements: new Set<string>(),
};

/** Expansion as it is said: each place-holder of each text replaced, one job after the other. */
function naive(manifest: JsonObject, values: Record<string, string[]>, index: number): JsonObject {
  const count = Object.values(values)[0]?.length ?? 0;
  const change = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') {
      return value.replaceAll(/%\(([\w-]+)\)s|%s|%n/g, (whole, name: string | undefined) => {
        if (whole === '%n') return String(index).padStart(String(count).length, '0');
        return values[name ?? '']?.[index] ?? whole;
      });
    }
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
  };
  return change(manifest) as JsonObject;
}

const text = fc
  .array(
    fc.constantFrom(
      '%s',
      '%n',
      '%(a)s',
      '%(b-1)s',
      '%j',
      '%',
      'x',
      '"',
      '\\',
      'é',
      '\u{1f600}',
      './',
      ' ',
    ),
  )
  .map((parts) => parts.join(''));
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
  fc.constant(null),
);
const own = fc.dictionary(
  fc.stringMatching(/^X[a-z]{1,5}$/),
  fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf)),
);
const manifests = fc.record(
  {
    Executable: fc.constant('/bin/%s'),
    Arguments: fc.array(text),
    StdOutput: fc.constantFrom('%s.out', 'a%n', 'std.out'),
    StdErr: fc.constantFrom('%s.err', 'std.err'),
    JobName: fc.constantFrom('%n-%j', '%s', ''),
    InputSandbox: fc.constantFrom<JsonValue>('in.txt', './in.txt', ['', 'in.txt']),
    Sites: fc.constantFrom<JsonValue>('A', ['A'], []),
    Owner: fc.constant('alice'),
    OwnerDN: fc.constant(''),
    JobID: fc.integer(),
    Tags: fc.constantFrom<JsonValue>('t%n', []),
  },
  { requiredKeys: ['Executable'] },
);
const tables = fc.integer({ min: 2, max: 5 }).chain((count) => {
  const list = fc.array(fc.stringMatching(/^[a-z"\u00e9\u4e2d]{0,6}$/), {
    minLength: count,
    maxLength: count,
  });
  return fc.record({ '': list, a: list, 'b-1': list }, { requiredKeys: [''] });
});

describe('a parametric manifest', () => {
  it('makes what it makes when every job is expanded for itself, whatever is shared', () => {
    fc.assert(
      fc.property(manifests, own, tables, (known, more, values) => {
        const shared: JsonObject = { ...more, ...known };
        const sent: JsonObject = { ...shared };
        for (const [name, list] of Object.entries(values)) {
          sent[name === '' ? 'Parameters' : `Parameters.${name}`] = list;
        }
        const read = readTemplate(sent, 10);
        if ('violations' in read) throw new Error(JSON.stringify(read.violations));
        const { template } = read;
        let stored: SharedManifest | undefined;
        [...template.values()].forEach((held, index) => {
          const wanted = naive(shared, values, index);
          const filled = fillTemplate(template.manifest, held);
          expect(filled).toEqual(wanted);
          expect(template.bytesWith(held)).toBe(Buffer.byteLength(stringifyJson(wanted)));
          const { job } = readManifest(filled, context);
          stored ??= new SharedManifest(template.manifest, filled, job.manifest);
          const row = {
            manifest: stringifyJson(stored.ownOf(filled, job.manifest)),
            template: stringifyJson(stored.template),
            added: stringifyJson(stored.added),
            place_values: stringifyJson(held),
          };
          const whole = {
            manifest: stringifyJson(job.manifest),
            template: null,
            added: null,
            place_values: null,
          };
          expect(manifestOf(row, 42)).toEqual(manifestOf(whole, 42));
        });
      }),
      { seed, numRuns: runs(500) },
    );
  });

  it('keeps nothing for a job but the values of its place-holders', () => {
    const read = readTemplate(
      { Executable: '/bin/true', Arguments: '%s', Parameters: ['1', '2', '3'] },
      10,
    );
    if ('violations' in read) throw new Error('refused');
    const { template } = read;
    const filled = [...template.values()].map((held) => fillTemplate(template.manifest, held));
    const finished = filled.map((manifest) => readManifest(manifest, context).job.manifest);
    const shared = new SharedManifest(template.manifest, filled[0]!, finished[0]!);
    expect(filled.map((one, index) => shared.ownOf(one, finished[index]!))).toEqual([{}, {}, {}]);
    expect([...template.values()]).toEqual([{ '%s': '1' }, { '%s': '2' }, { '%s': '3' }]);
  });

  it('computes no values for sequences that nothing uses', () => {
    const unused = Array.from({ length: 50 }, (_, n) => [`Parameters.p${n}`, 1_000] as const);
    const read = readTemplate({ Arguments: '%(p7)s', ...Object.fromEntries(unused) }, 1_000);
    if ('violations' in read) throw new Error('refused');
    expect(read.template.values().next().value).toEqual({ '%(p7)s': '1' });
  });
});

describe('manifestOf', () => {
  it('reads manifests that were stored whole, with their id in place', () => {
    const row = { template: null, added: null, place_values: null };
    const manifest = '{"Executable":"/bin/true","Arguments":"job 7","JobID":7}';
    expect(manifestOf({ ...row, manifest }, 7n)).toEqual({
      Executable: '/bin/true',
      Arguments: 'job 7',
      JobID: 7n,
    });
  });
});
