import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FIELD_TYPES } from '../metadata/metadata-field.js';

/** Body of `POST …/directory/<d>`; optional. */
export class MakeDirectoryRequest {
  @ApiProperty({
    type: 'integer',
    description: 'Mode bits as decimal number',
    required: false,
    minimum: 0,
    maximum: 511,
    default: 509,
  })
  Mode?: number;
}

/** Where a storage element has a file. */
export class ReplicaRequest {
  @ApiProperty({
    description: 'Physical name; may be left out where it follows from the path',
    required: false,
    example: 'srm://se-a.example/vo/a/f1',
  })
  PFN?: string;
}

/** Body of `PUT …/file/<f>`. */
@ApiExtraModels(ReplicaRequest)
export class RegisterFileRequest {
  @ApiProperty({ description: 'Bytes', type: 'integer', format: 'int64', minimum: 0, example: 10 })
  Size!: number;

  @ApiProperty({ description: 'Checksum', required: false, example: 'ad8b1f02' })
  Checksum?: string;

  @ApiProperty({ description: 'Algorithm of the checksum', required: false, example: 'Adler32' })
  ChecksumType?: string;

  @ApiProperty({
    description: 'GUID',
    required: false,
    example: 'B7A1D2C4-0B5E-4E0F-9D0C-2A2B8E9B2B11',
  })
  GUID?: string;

  @ApiProperty({
    type: 'integer',
    description: 'Mode bits as decimal number',
    required: false,
    minimum: 0,
    maximum: 511,
    default: 509,
  })
  Mode?: number;

  @ApiProperty({
    description: 'Replicas by storage element',
    selfRequired: false,
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ReplicaRequest) },
    example: { 'SE-A': { PFN: 'srm://se-a.example/vo/a/f1' } },
  })
  Replicas?: Record<string, ReplicaRequest>;
}

/** Body of `POST /filecatalogue/metadata`. */
export class DeclareFieldRequest {
  @ApiProperty({
    description: 'Name of the field',
    minLength: 1,
    maxLength: 64,
    pattern: '^[\\p{L}\\p{N}_][\\p{L}\\p{N}_.:-]*$',
    example: 'run',
  })
  name!: string;

  @ApiProperty({ description: 'Type of its values', enum: FIELD_TYPES, example: 'int' })
  type!: string;
}
