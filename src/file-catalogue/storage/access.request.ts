import { ApiProperty } from '@nestjs/swagger';
import { Check, IsIn, IsInt, IsOptional, IsString, Max, Min, MinLength } from '#src/http/index.js';

/** Files of one request. */
const MAX_PATHS = 1_000;
/** What can be done with files at storage elements. */
const RIGHTS = ['read'] as const;
const DEFAULT_SECONDS = 900;
const MAX_SECONDS = 3_600;
const NOT_A_TEXT = { message: 'is not a text with content' };

/** Body of `POST /filecatalogue/access`. */
export class AccessRequest {
  @ApiProperty({
    description: 'Paths of files; answered in this order',
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_PATHS,
    example: ['/vo/a/f1'],
  })
  @Check(isListOfTexts, { message: `is not a list of 1 to ${MAX_PATHS} texts` })
  paths!: string[];

  @ApiProperty({ description: 'What is wanted', enum: RIGHTS, example: 'read' })
  @IsIn(RIGHTS)
  right!: (typeof RIGHTS)[number];

  @ApiProperty({
    description: 'Storage element; left out: the first of the registry that has the file',
    required: false,
    example: 'SE-A',
  })
  @IsOptional()
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  se?: string;

  @ApiProperty({
    description: 'Seconds for which it is wanted',
    type: 'integer',
    minimum: 1,
    maximum: MAX_SECONDS,
    default: DEFAULT_SECONDS,
    required: false,
  })
  @IsOptional()
  @Max(MAX_SECONDS)
  @Min(1)
  @IsInt()
  seconds: number = DEFAULT_SECONDS;
}

function isListOfTexts(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_PATHS) return false;
  return value.every((path) => typeof path === 'string');
}
