import { ApiProperty } from '@nestjs/swagger';
import { FIELD_TYPES, type FieldType } from './metadata-field.js';

/** A metadata field with the values that are compatible with the conditions. */
export class CompatibleFieldResponse {
  @ApiProperty({ description: 'Type of the field', enum: FIELD_TYPES, example: 'int' })
  type!: FieldType;

  @ApiProperty({
    description: 'Distinct values in order; with `counts=true` objects `{"value", "directories"}`',
    type: 'array',
    items: {},
    example: [100, 250],
  })
  values!: unknown[];

  @ApiProperty({ description: 'Number of values, with `maxValues`', required: false, example: 2 })
  total?: number;

  @ApiProperty({ description: 'Smallest value, with `maxValues`', required: false, example: 100 })
  min?: unknown;

  @ApiProperty({ description: 'Largest value, with `maxValues`', required: false, example: 250 })
  max?: unknown;
}
