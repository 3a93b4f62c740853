import {
  ApiExtraModels,
  ApiHideProperty,
  ApiProperty,
  getSchemaPath,
  type ApiPropertyOptions,
} from '@nestjs/swagger';
import { isJsonObject, Problem, type JsonObject, type JsonValue } from '#src/kernel/index.js';
import {
  Check,
  FreeKeys,
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
  Shape,
} from '#src/http/index.js';
import { FIELD_TYPES, fieldNameFault, type FieldType } from '../metadata/metadata-field.js';
import type { NamedReplicas } from '../writing/line-reader.service.js';
import {
  CHECKSUM,
  CHECKSUM_TYPE,
  FAULTS,
  isPfn,
  isSize,
  MAX_MODE,
  MAX_REPLICAS,
} from '../writing/member-rules.js';

const MODE: ApiPropertyOptions = { description: 'Mode bits as decimal number', default: 509 };
const NOT_A_MODE = { message: FAULTS.mode };
const NOT_A_TEXT = { message: FAULTS.text };

/** Body of `POST …/directory/<d>`; optional. */
@Shape({ isOptional: true })
export class MakeDirectoryRequest {
  @ApiProperty(MODE)
  @IsOptional()
  @Max(MAX_MODE, NOT_A_MODE)
  @Min(0, NOT_A_MODE)
  @IsInt(NOT_A_MODE)
  Mode?: number;
}

/** Where a storage element has a file. */
class ReplicaRequest {
  /**
   * Physical name; may be left out where it follows from the path
   * @example 'srm://se-a.example/vo/a/f1'
   */
  @IsOptional()
  @Check(isPfn, { message: FAULTS.pfn })
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  PFN?: string;
}

/** Body of `PUT …/file/<f>`. */
@ApiExtraModels(ReplicaRequest)
export class RegisterFileRequest {
  @ApiProperty({ description: 'Bytes', type: 'integer', format: 'int64', minimum: 0, example: 10 })
  @Check(isSize, { message: FAULTS.size })
  Size!: number | bigint;

  /**
   * Checksum
   * @example 'ad8b1f02'
   */
  @IsOptional()
  @Matches(CHECKSUM)
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  Checksum?: string;

  /**
   * Algorithm of the checksum
   * @example 'Adler32'
   */
  @IsOptional()
  @Matches(CHECKSUM_TYPE)
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  ChecksumType?: string;

  /**
   * GUID
   * @example 'B7A1D2C4-0B5E-4E0F-9D0C-2A2B8E9B2B11'
   */
  @IsOptional()
  @Matches(CHECKSUM)
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  GUID?: string;

  @ApiProperty(MODE)
  @IsOptional()
  @Max(MAX_MODE, NOT_A_MODE)
  @Min(0, NOT_A_MODE)
  @IsInt(NOT_A_MODE)
  Mode?: number;

  @ApiProperty({
    description: 'Replicas by storage element',
    selfRequired: false,
    type: 'object',
    maxProperties: MAX_REPLICAS,
    additionalProperties: { $ref: getSchemaPath(ReplicaRequest) },
    example: { 'SE-A': { PFN: 'srm://se-a.example/vo/a/f1' } },
  })
  @ReadBy(readReplicas)
  Replicas?: NamedReplicas;

  /**
   * Storage element to which its bytes were uploaded: the file is registered with them, or not at all
   * @example 'SE-A'
   */
  @IsOptional()
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  SE?: string;

  /**
   * SHA-256 of bytes that were uploaded
   * @example 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
   */
  @IsOptional()
  @Matches(/^[\da-f]{64}$/)
  @IsString(NOT_A_TEXT)
  SHA256?: string;
}

/** Body of `POST /filecatalogue/metadata`. */
export class DeclareFieldRequest {
  @ApiProperty({
    description: 'Name of the field, such as `run`',
    minLength: 1,
    maxLength: 64,
    pattern: '^[\\p{L}\\p{N}_][\\p{L}\\p{N}_.:-]*$',
  })
  @Check((name: string) => fieldNameFault(name) === undefined, {
    message: ({ value }) => fieldNameFault(value as string) ?? '',
  })
  @MinLength(1, NOT_A_TEXT)
  @IsString(NOT_A_TEXT)
  name!: string;

  @ApiProperty({ description: 'Type of its values', enum: FIELD_TYPES, example: 'int' })
  @IsIn(FIELD_TYPES)
  type!: FieldType;
}

/** Body of `PUT` and `PATCH …/metadata`: values by field name; null removes one. */
export class MetadataValues {
  @ApiHideProperty()
  @FreeKeys({ takes: () => true, read: (json) => Object.entries(json) })
  values!: [string, JsonValue][];
}

/** `{"SE-A": {"PFN": "…"}}` as pairs. */
function readReplicas(json: JsonValue, key: string): NamedReplicas {
  if (!isJsonObject(json)) throw Problem.invalidField(key, 'is not a JSON object');
  const replicas = Object.entries(json);
  if (replicas.length > MAX_REPLICAS) {
    throw Problem.invalidField(key, `is not a list of at most ${MAX_REPLICAS}`);
  }
  return replicas.map(([element, replica]) => [element, pfnOf(element, replica, key)]);
}

function pfnOf(element: string, replica: JsonValue, key: string): string | null {
  if (element === '') throw Problem.invalidField('se', FAULTS.text);
  if (isJsonObject(replica)) return readJson(ReplicaRequest, replica).PFN ?? null;
  if (element !== 'PFN') throw Problem.invalidField(key, `${element} is not a JSON object`);
  const written: JsonObject = { '<storage element>': { PFN: '…' } };
  throw Problem.invalidField(
    key,
    `has PFN without its storage element (SE); it is written ${JSON.stringify(written)}`,
  );
}
