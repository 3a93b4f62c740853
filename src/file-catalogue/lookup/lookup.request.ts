import { ApiProperty } from '@nestjs/swagger';
import { Check } from '#src/http/index.js';

/** Paths of one lookup. */
export const MAX_LOOKUP_PATHS = 10_000;

/** Body of `POST /filecatalogue/lookup`. */
export class LookupRequest {
  @ApiProperty({
    description: 'Paths of files; answered in this order, one that stands twice twice',
    type: 'array',
    items: { type: 'string' },
    maxItems: MAX_LOOKUP_PATHS,
    example: ['/vo/a/f1'],
  })
  @Check(isListOfTexts, { message: `is not a list of at most ${MAX_LOOKUP_PATHS} texts` })
  paths!: string[];
}

function isListOfTexts(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_LOOKUP_PATHS) return false;
  return value.every((path) => typeof path === 'string');
}
