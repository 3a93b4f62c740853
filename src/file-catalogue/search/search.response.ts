import { ApiProperty } from '@nestjs/swagger';

/** A node of the answer tree of a search. */
export class FoundTreeResponse {
  @ApiProperty({
    description:
      'Files in the directory and below; absent on directories that only lead to a match',
    required: false,
    type: 'integer',
    format: 'int64',
    example: 2,
  })
  f?: number;

  @ApiProperty({
    description: 'Bytes of these files',
    required: false,
    type: 'integer',
    format: 'int64',
    example: 90,
  })
  s?: bigint;

  @ApiProperty({
    description: 'Directories inside, by name',
    selfRequired: false,
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/FoundTreeResponse' },
    example: { run1: { f: 2, s: 30 } },
  })
  d?: Record<string, FoundTreeResponse>;
}
