/** Named shapes of the catalogue that no class can describe. A union with a list has no type: generators make no code of it. */
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
  DirectoryField: {
    description:
      'A list of the values of a field (`CompatibleValue`), or with `maxValues` an object: `values`, a list of at most so many, `total`, how many there are, `min` and `max`',
    example: [100, 250],
  },
  ReadMetadataResponse: {
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/CompatibleFieldResponse' },
    example: { energy: { type: 'int', values: [100, 250] } },
  },
  ReadDirectoryMetadataResponse: {
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
    oneOf: [{ type: 'boolean' }, { $ref: '#/components/schemas/DirectoryAttributesResponse' }],
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
