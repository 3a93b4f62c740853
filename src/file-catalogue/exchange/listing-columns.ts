import { Problem, type JsonObject } from '#src/kernel/index.js';
import { joinPath } from '../path/catalogue-path.js';

/** Listings of other catalogues that can be imported. */
export const LISTING_FORMATS = ['dirac', 'rucio'] as const;

/** One of the listings. */
export type ListingFormat = (typeof LISTING_FORMATS)[number];

/** What a column means; the names are those that the dumps and their users give it. */
const MEANINGS = {
  path: ['path', 'lfn', 'filename', 'file', 'dirac_lfn'],
  scope: ['scope'],
  name: ['name', 'did'],
  size: ['size', 'bytes', 'filesize', 'file_size'],
  adler32: ['adler32', 'adler'],
  md5: ['md5'],
  checksum: ['checksum'],
  checksumType: ['checksumtype', 'checksum_type'],
  guid: ['guid'],
  se: ['se', 'rse', 'storage', 'storage_element', 'storageelement'],
  pfn: ['pfn', 'surl', 'url'],
  owner: ['owner', 'user'],
  group: ['group', 'ownergroup', 'owner_group'],
} as const;

type Meaning = keyof typeof MEANINGS;

/** Columns of dumps without a heading. The path of a Rucio dump is that on the storage element, not the file's name. */
const HEADLESS: Record<ListingFormat, (Meaning | undefined)[]> = {
  dirac: ['path', 'size', 'checksum', 'guid', 'se', 'pfn'],
  rucio: ['se', 'scope', 'name', 'checksum', 'size'],
};

/** Reads rows of a listing as lines of NDJSON. */
export class ListingColumns {
  private constructor(
    private readonly columns: readonly (Meaning | undefined)[],
    readonly hasHeading: boolean,
    private readonly format: ListingFormat,
  ) {}

  /** Recognises a heading (it names the size) or takes the format's own columns. */
  static of(first: readonly string[], format: ListingFormat): ListingColumns {
    const found = first.map((text) => meaningOf(text, format));
    const hasHeading = found.includes('size') && (found.includes('path') || found.includes('name'));
    return new ListingColumns(hasHeading ? found : HEADLESS[format], hasHeading, format);
  }

  /** The line of a row. Throws Problem 400 for a row without path or with a size that is no number. */
  line(row: readonly string[]): JsonObject & { path: string } {
    const cells = new Map<Meaning, string>();
    for (const [index, meaning] of this.columns.entries()) {
      const text = row[index] ?? '';
      if (meaning !== undefined && text !== '' && text !== '\\N') cells.set(meaning, text);
    }
    const optional: JsonObject = {};
    for (const key of ['guid', 'owner', 'group'] as const) {
      const text = cells.get(key);
      if (text !== undefined) optional[key] = text;
    }
    const se = cells.get('se');
    const pfn = cells.get('pfn');
    if (se !== undefined) optional['replicas'] = [{ se, ...(pfn === undefined ? {} : { pfn }) }];
    return {
      kind: 'file',
      path: pathOf(cells, this.format),
      size: sizeOf(cells.get('size')?.trim()),
      ...checksumOf(cells),
      ...optional,
    };
  }
}

function meaningOf(heading: string, format: ListingFormat): Meaning | undefined {
  const bare = heading.trim().toLowerCase().replace(/^#\s*/, '').replaceAll(' ', '_');
  if (format === 'rucio' && bare === 'path') return undefined;
  const all = Object.entries(MEANINGS) as [Meaning, readonly string[]][];
  return all.find(([, names]) => names.includes(bare))?.[0];
}

function pathOf(cells: ReadonlyMap<Meaning, string>, format: ListingFormat): string {
  const path = cells.get('path');
  if (format === 'dirac' && path !== undefined) return path.replace(/^LFN:/i, '');
  const name = cells.get('name') ?? path;
  if (name === undefined) throw Problem.invalidField('path', 'is missing');
  if (name.startsWith('/')) return name;
  const [scope, bare] = name.includes(':') ? splitAt(name, ':') : [cells.get('scope') ?? '', name];
  return scope === '' ? `/${bare}` : joinPath(`/${scope}`, bare);
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

function sizeOf(text: string | undefined): number | bigint {
  if (text === undefined || !/^\d{1,19}$/.test(text)) {
    throw Problem.invalidField(
      'size',
      text === undefined ? 'is missing' : 'is not a number of bytes',
    );
  }
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : BigInt(text);
}

function checksumOf(cells: ReadonlyMap<Meaning, string>): JsonObject {
  const md5 = cells.get('md5');
  const given = cells.get('adler32') ?? cells.get('checksum');
  if (given === undefined) return md5 === undefined ? {} : { checksum: md5, checksumType: 'MD5' };
  const [prefix, bare] = given.includes(':') ? splitAt(given, ':') : ['', given];
  const guessed = bare.length === 32 ? 'MD5' : 'Adler32';
  const named = prefix.toLowerCase().startsWith('md') ? 'MD5' : guessed;
  return { checksum: bare, checksumType: cells.get('checksumType') ?? named };
}
