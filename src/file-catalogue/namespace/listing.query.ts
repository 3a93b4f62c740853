import { decodeBase64UrlText, encodeBase64UrlText, Problem } from '#src/kernel/index.js';
import type { QueryValues } from '#src/platform/index.js';

/** Where a page begins: after this entry. Directories come first, each kind by name in byte order. */
export interface ListingCursor {
  kind: 'directories' | 'files';
  name: string;
}

/** What of a directory's contents is wanted. */
export interface ListingWanted {
  verbose: boolean;
  /** Entries of one page; undefined for all of them. */
  limit: number | undefined;
  after: ListingCursor;
}

/** Entries of one page at most. */
export const MAX_PAGE = 10_000;
const LETTER = { directories: 'd', files: 'f' } as const;

/** The beginning of a directory. */
export const START_CURSOR: ListingCursor = { kind: 'directories', name: '' };

/** Reads `verbose` (or its older name `extra`), `limit` and `after`. Throws Problem 400 for anything else. */
export function readListingQuery(query: QueryValues): ListingWanted {
  query.allowOnly(['verbose', 'extra', 'limit', 'after']);
  const after = query.single('after');
  return {
    verbose: query.boolean('verbose') || query.boolean('extra'),
    limit: query.integer('limit', undefined, { min: 1, max: MAX_PAGE, clamp: true }),
    after: after === undefined ? START_CURSOR : decodeCursor(after),
  };
}

/** The place as it stands in the `Link` of a page. */
export function encodeCursor(place: ListingCursor): string {
  return encodeBase64UrlText(`${LETTER[place.kind]}${place.name}`);
}

function decodeCursor(text: string): ListingCursor {
  const decoded = decodeBase64UrlText(text);
  const kind = decoded?.startsWith('d')
    ? 'directories'
    : decoded?.startsWith('f')
      ? 'files'
      : undefined;
  if (decoded === undefined || kind === undefined || decoded.includes('\0')) {
    throw Problem.invalidField('after', 'is no cursor of this service');
  }
  return { kind, name: decoded.slice(1) };
}
