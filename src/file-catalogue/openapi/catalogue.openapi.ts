/**
 * Named shapes of the catalogue that no class can describe. A union with a list is `x-one-of`, which our own
 * client reads: others make no code of it.
 */
export const CATALOGUE_SCHEMAS = {
  MetadataValue: {
    description: 'A value of a metadata field: a number for `int` and `float`, else a text',
    oneOf: [{ type: 'number' }, { type: 'string' }],
    example: 100,
  },
  CompatibleValue: {
    description: 'A value, or with `counts=true` the value and how many directories match with it',
    oneOf: [
      { $ref: '#/components/schemas/MetadataValue' },
      { $ref: '#/components/schemas/CountedValueResponse' },
    ],
    example: 100,
  },
  CappedValues: {
    description: 'At most `maxValues` values of a field, and how many there are',
    type: 'object',
    required: ['values', 'total', 'min', 'max'],
    properties: {
      values: { type: 'array', items: { $ref: '#/components/schemas/CompatibleValue' } },
      total: { type: 'integer', example: 2 },
      min: { $ref: '#/components/schemas/MetadataValue' },
      max: { $ref: '#/components/schemas/MetadataValue' },
    },
  },
  DirectoryField: {
    description: 'The values of a field; with `maxValues` an object',
    'x-one-of': [
      { type: 'array', items: { $ref: '#/components/schemas/CompatibleValue' } },
      { $ref: '#/components/schemas/CappedValues' },
    ],
    example: [100, 250],
  },
  MetadataFieldsResponse: {
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/CompatibleFieldResponse' },
    example: { energy: { type: 'int', values: [100, 250] } },
  },
  DirectoryMetadataResponse: {
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/DirectoryField' },
    example: { energy: [100], run: [1, 2] },
  },
  MetadataChange: {
    description: 'A value of a metadata field; null removes it',
    oneOf: [{ type: 'number' }, { type: 'string' }, { type: 'null' }],
    example: 3,
  },
  MetadataValues: {
    description: 'Values by field name; in a request null removes a value',
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/MetadataChange' },
    example: { run: 3 },
  },
  SubDirectory: {
    description: '`true`, or with `verbose` the attributes',
    oneOf: [
      { type: 'boolean', 'x-values': [true] },
      { $ref: '#/components/schemas/DirectoryAttributesResponse' },
    ],
    example: true,
  },
};

/** The header of lists by which a feed goes on from them. */
export const FEED_POSITION = {
  'Grid-Feed-Position': {
    description:
      '`after` of `GET /filecatalogue/events`, which goes on from this answer without a gap',
    schema: { type: 'string' },
  },
} as const;
