import { ApiHideProperty } from '@nestjs/swagger';
import { decodeBase64UrlText, encodeBase64UrlText, Problem } from '#src/kernel/index.js';
import { Allow, Clamp, IsBoolean, IsInt, IsOptional, Matches, Min } from '#src/http/index.js';

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
const MAX_PAGE = 10_000;
const LETTER = { directories: 'd', files: 'f' } as const;

/** The beginning of a directory. */
const START_CURSOR: ListingCursor = { kind: 'directories', name: '' };

const NO_CURSOR = 'is no cursor of this service';

/** Query of `GET …/directory/<d>`. */
export class ListingQuery {
  /** With replicas of files and attributes of directories (older name: `extra`) */
  @IsOptional()
  @IsBoolean()
  verbose: boolean = false;

  @ApiHideProperty()
  @Allow()
  extra: boolean = false;

  /** Entries of one page, directories first, each kind by name; more than 10000 is taken as 10000. Without it the listing is complete */
  @IsOptional()
  @Clamp(MAX_PAGE)
  @Min(1)
  @IsInt()
  limit?: number;

  /** Cursor of the next page, from the `Link` header */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]+={0,2}$/, { message: NO_CURSOR })
  after?: string;
}

/** What the query asks for. Throws Problem 400 for a cursor that is none. */
export function wantedOf({ verbose, extra, limit, after }: ListingQuery): ListingWanted {
  return {
    verbose: verbose || extra,
    limit,
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
    throw Problem.invalidField('after', NO_CURSOR);
  }
  return { kind, name: decoded.slice(1) };
}
