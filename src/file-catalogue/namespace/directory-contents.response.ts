import { ApiProperty } from '@nestjs/swagger';

/** Contents of a directory; names are relative to it. */
export class DirectoryContentsResponse {
  @ApiProperty({
    description: 'Subdirectories by name: `true`, or with `verbose` their attributes',
    type: Object,
    example: { run1: true },
  })
  SubDirs!: Record<string, unknown>;

  @ApiProperty({
    description: 'Files by name: `MetaData` with the attributes and with `verbose` also `Replicas`',
    type: Object,
    example: { f1: { MetaData: { Size: 10 } } },
  })
  Files!: Record<string, unknown>;
}

/** Attributes of a file. */
export class FileAttributesResponse {
  @ApiProperty({ description: 'Number of the file', type: 'integer', format: 'int64', example: 7 })
  FileID!: number;

  @ApiProperty({ description: 'Bytes', type: 'integer', format: 'int64', example: 1024 })
  Size!: number;

  @ApiProperty({ description: 'GUID; empty when none was given', example: '' })
  GUID!: string;

  @ApiProperty({ description: 'Checksum; empty when none was given', example: 'ad8b1f02' })
  Checksum!: string;

  @ApiProperty({ description: 'Algorithm of the checksum', example: 'Adler32' })
  ChecksumType!: string;

  @ApiProperty({ description: 'Kind of the entry', example: 'File' })
  Type!: string;

  @ApiProperty({ description: 'Number of the owner', example: 2 })
  UID!: number;

  @ApiProperty({ description: 'Name of the owner', example: 'alice' })
  Owner!: string;

  @ApiProperty({ description: 'Number of the group', example: 2 })
  GID!: number;

  @ApiProperty({ description: 'Name of the group', example: 'grid_user' })
  OwnerGroup!: string;

  @ApiProperty({ description: 'When it was registered', format: 'date-time' })
  CreationDate!: string;

  @ApiProperty({ description: 'When it was last changed', format: 'date-time' })
  ModificationDate!: string;

  @ApiProperty({ description: 'Mode bits as decimal number', example: 509 })
  Mode!: number;

  @ApiProperty({ description: 'Status', example: 'AprioriGood' })
  Status!: string;
}
