import { describe, expect, it } from '@jest/globals';
import type { CatalogueNames } from '../names/catalogue-names.service.js';
import { fileAttributes, fileAttributesText, fileText } from './entry-json.js';
import type { FileRow } from './files.repository.js';

const names = { nameOf: (id: number) => ({ 1: 'alice', 2: 'a"b' })[id] ?? '' } as CatalogueNames;

function file(differing: Partial<FileRow> = {}): FileRow {
  return {
    id: 7,
    name: 'f"1\u2028',
    size: 10,
    owner_id: 1,
    group_id: 2,
    mode: 0o775,
    checksum: 'ad8b1f02',
    checksum_type: 'Adler32',
    guid: null,
    metadata: null,
    replicas: null,
    created_at: new Date('2026-11-24T22:23:24.005Z'),
    modified_at: new Date('2026-11-24T22:23:25Z'),
    ...differing,
  };
}

describe('the JSON text of a file', () => {
  it.each([
    ['as usual', {}],
    ['without checksum', { checksum: null, checksum_type: null }],
    ['with a GUID', { guid: 'a-b"c' }],
    ['of an owner without a name', { owner_id: 9 }],
    ['that has not changed', { modified_at: new Date('2026-11-24T22:23:24.005Z') }],
  ] as [string, Partial<FileRow>][])('is that of its attributes: %s', (_what, differing) => {
    const row = file(differing);
    const text = fileAttributesText(row, names);
    expect(text).toBe(JSON.stringify(fileAttributes(row, names)));
  });

  it('has all digits of large numbers', () => {
    const text = fileAttributesText(file({ id: 2n ** 60n, size: 2n ** 63n - 1n }), names);
    expect(text).toContain(`{"FileID":${2n ** 60n},"Size":${2n ** 63n - 1n},`);
  });

  it('stands in a listing under its name, with replicas if they are wanted', () => {
    const row = file({ replicas: '{"2":null,"1":"/x"}' });
    const { MetaData, Replicas } =
      (
        JSON.parse(`{${fileText(row, names, true)}}`) as Record<
          string,
          { MetaData: object; Replicas: object }
        >
      )[row.name] ?? {};
    expect([MetaData, Replicas]).toEqual([
      JSON.parse(JSON.stringify(fileAttributes(row, names))),
      { alice: { Status: 'AprioriGood', PFN: '/x' }, 'a"b': { Status: 'AprioriGood', PFN: '' } },
    ]);
    expect(fileText(row, names, false)).toBe(
      `${JSON.stringify(row.name)}:{"MetaData":${fileAttributesText(row, names)}}`,
    );
  });
});
