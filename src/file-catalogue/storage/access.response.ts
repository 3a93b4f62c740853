import { ApiProperty } from '@nestjs/swagger';

/** Where a file lies, and what opens it there. */
export class FileAccessResponse {
  @ApiProperty({ description: 'Path in the catalogue', example: '/vo/a/f1' })
  path!: string;

  @ApiProperty({ description: 'Storage element', example: 'SE-A' })
  se!: string;

  @ApiProperty({
    description: 'Address of the file there',
    example: 'https://xrd.example.org:1094/vo/a/f1',
  })
  url!: string;

  @ApiProperty({
    description:
      'Headers for requests to the address, and to no other: of WebDAV what opens it, of S3 those of `create`',
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { Authorization: 'Bearer eyJhbGci…' },
  })
  headers?: Record<string, string>;

  @ApiProperty({
    description: 'Of S3: the address with a signature, which opens it',
    required: false,
    example: 'https://s3.example.org/bucket/a/f1?X-Amz-Signature=…',
  })
  presigned?: string;

  @ApiProperty({
    description: 'Bytes; to `create`, if they were said',
    type: 'integer',
    format: 'int64',
    required: false,
    example: 10,
  })
  size?: number | bigint;

  @ApiProperty({
    description: 'Checksums by their kind; none where the catalogue knows none',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { adler32: 'ad8b1f02' },
  })
  checksum!: Record<string, string>;

  @ApiProperty({
    description: 'When `headers` or `presigned` ends',
    type: 'string',
    format: 'date-time',
    example: '2026-01-01T12:15:00.000Z',
  })
  expires!: string;
}
