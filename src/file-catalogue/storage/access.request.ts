import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { isJsonObject, Problem, type JsonValue } from '#src/kernel/index.js';
import {
  Check,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  MinLength,
  ReadBy,
  readJson,
} from '#src/http/index.js';
import { FAULTS, isSize } from '../writing/member-rules.js';

/** Files of one request. */
const MAX_PATHS = 1_000;
/** What can be done with files at storage elements. */
const RIGHTS = ['read', 'create'] as const;
const DEFAULT_SECONDS = 900;
const MAX_SECONDS = 3_600;
const NOT_A_TEXT = { message: 'is not a text with content' };

/** Bytes that are to be written. */
export class ContentRequest {
  @ApiProperty({ description: 'Bytes', type: 'integer', format: 'int64', minimum: 0, example: 10 })
  @Check(isSize, { message: FAULTS.size })
  size!: number | bigint;

  /**
   * MD5 as hexadecimal digits; S3 takes no other bytes
   * @example '781e5e245d69b566979b86e28d23f2c7'
   */
  @IsOptional()
  @Matches(/^[\da-f]{32}$/)
  @IsString()
  md5?: string;
}

/** Body of `POST /filecatalogue/access`. */
@ApiExtraModels(ContentRequest)
export class AccessRequest {
  @ApiProperty({
    description: 'Paths of files, to `create` of new ones; answered in this order',
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_PATHS,
    example: ['/vo/a/f1'],
  })
  @Check(isListOfTexts, { message: `is not a list of 1 to ${MAX_PATHS} texts` })
  paths!: string[];

  @ApiProperty({
    description: 'What is wanted; `create`: to write a file that is not there',
    enum: RIGHTS,
    example: 'read',
  })
  @IsIn(RIGHTS)
  right!: (typeof RIGHTS)[number];

  @ApiProperty({
    description:
      'Storage element; left out: the first of the registry that has the file, or takes it',
    required: false,
    example: 'SE-A',
  })
  @IsOptional()
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  se?: string;

  /** Only where it is opened by a signed address (S3), as a page of another origin needs it */
  @IsOptional()
  @IsBoolean()
  presigned?: boolean;

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

  @ApiProperty({
    description: 'To `create` at S3: the bytes of each path',
    required: false,
    type: 'array',
    items: { $ref: getSchemaPath(ContentRequest) },
    maxItems: MAX_PATHS,
  })
  @ReadBy(readContents)
  contents?: ContentRequest[];
}

function readContents(json: JsonValue, key: string): ContentRequest[] {
  if (!Array.isArray(json) || json.length > MAX_PATHS || !json.every(isJsonObject)) {
    throw Problem.invalidField(key, `is not a list of at most ${MAX_PATHS} objects`);
  }
  return json.map((content) => readJson(ContentRequest, content));
}

function isListOfTexts(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_PATHS) return false;
  return value.every((path) => typeof path === 'string');
}
