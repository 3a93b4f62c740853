import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';

/** Who has an entry, and who may do what with it. */
class OwnedResponse {
  @ApiProperty({ type: 'integer', description: 'Number of the owner', example: 2 })
  UID!: number;

  @ApiProperty({ description: 'Name of the owner', example: 'alice' })
  Owner!: string;

  @ApiProperty({ type: 'integer', description: 'Number of the group', example: 2 })
  GID!: number;

  @ApiProperty({ description: 'Name of the group', example: 'grid_user' })
  OwnerGroup!: string;

  @ApiProperty({ description: 'Status', example: 'AprioriGood' })
  Status!: string;

  @ApiProperty({ type: 'integer', description: 'Mode bits as decimal number', example: 509 })
  Mode!: number;
}

/** Attributes of a file. */
export class FileAttributesResponse extends OwnedResponse {
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

  @ApiProperty({ description: 'When it was registered', format: 'date-time' })
  CreationDate!: string;

  @ApiProperty({ description: 'When it was last changed', format: 'date-time' })
  ModificationDate!: string;
}

/** Attributes of a directory. */
class DirectoryAttributesResponse extends OwnedResponse {
  @ApiProperty({ description: 'Number of the directory', type: 'integer', format: 'int64' })
  DirID!: number;

  @ApiProperty({ description: 'When it was made', format: 'date-time' })
  CreationDate!: string;

  @ApiProperty({ description: 'When it was last changed', format: 'date-time' })
  ModificationDate!: string;
}

/** Where a storage element has a file. */
export class ReplicaResponse {
  @ApiProperty({ description: 'Status', example: 'AprioriGood' })
  Status!: string;

  @ApiProperty({ description: 'Physical name; empty where it follows from the path', example: '' })
  PFN!: string;
}

const FILE_EXAMPLE = {
  ...{ FileID: 7, Size: 1024, GUID: '', Checksum: 'ad8b1f02', ChecksumType: 'Adler32' },
  ...{ Type: 'File', UID: 2, Owner: 'alice', GID: 2, OwnerGroup: 'grid_user' },
  CreationDate: '2026-01-02T03:04:05.678Z',
  ModificationDate: '2026-01-02T03:04:05.678Z',
  ...{ Mode: 509, Status: 'AprioriGood' },
};

/** A file in the contents of a directory. */
@ApiExtraModels(ReplicaResponse)
class FileEntryResponse {
  @ApiProperty({ type: () => FileAttributesResponse })
  MetaData!: FileAttributesResponse;

  @ApiProperty({
    description: 'With `verbose`: replicas by storage element',
    selfRequired: false,
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ReplicaResponse) },
    example: { 'SE-A': { Status: 'AprioriGood', PFN: '' } },
  })
  Replicas?: Record<string, ReplicaResponse>;
}

/** Contents of a directory; names are relative to it. */
@ApiExtraModels(DirectoryAttributesResponse, FileEntryResponse)
export class DirectoryContentsResponse {
  @ApiProperty({
    description: 'Subdirectories by name: `true`, or with `verbose` their attributes',
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/SubDirectory' },
    example: { run1: true },
  })
  SubDirs!: Record<string, unknown>;

  @ApiProperty({
    description: 'Files by name: `MetaData` with the attributes and with `verbose` also `Replicas`',
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(FileEntryResponse) },
    example: { f1: { MetaData: FILE_EXAMPLE } },
  })
  Files!: Record<string, unknown>;
}
