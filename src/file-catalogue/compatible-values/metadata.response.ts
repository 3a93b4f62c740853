import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
} from '@nestjs/swagger';
import { FIELD_TYPES, type FieldType } from '../metadata/metadata-field.js';

const VALUE = { $ref: '#/components/schemas/MetadataValue' } as ApiPropertyOptions;

/** A value with the number of directories that have it and match (`counts=true`). */
class CountedValueResponse {
  @ApiProperty(VALUE)
  value!: string | number;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    description: 'Matching directories',
    example: 3,
  })
  directories!: number;
}

/** A metadata field with the values that are compatible with the conditions. */
@ApiExtraModels(CountedValueResponse)
export class CompatibleFieldResponse {
  @ApiProperty({ description: 'Type of the field', enum: FIELD_TYPES, example: 'int' })
  type!: FieldType;

  @ApiProperty({
    description: 'Distinct values in order; with `counts=true` objects `{"value", "directories"}`',
    type: 'array',
    items: { $ref: '#/components/schemas/CompatibleValue' },
    example: [100, 250],
  })
  values!: unknown[];

  @ApiProperty({
    type: 'integer',
    description: 'Number of values, with `maxValues`',
    required: false,
    example: 2,
  })
  total?: number;

  @ApiPropertyOptional(VALUE)
  min?: unknown;

  @ApiPropertyOptional(VALUE)
  max?: unknown;
}
