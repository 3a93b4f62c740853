import { ApiProperty } from '@nestjs/swagger';

/** A job as it is asked for. Keys that are not named here are kept and echoed. */
export class ManifestRequest {
  @ApiProperty({
    description: 'An uploaded file, an absolute path, or a name on the PATH of the site.',
    minLength: 1,
    example: '/bin/echo',
  })
  Executable!: string;
  /**
   * Split like a shell splits words, without a shell; a list of texts is taken as it is.
   * @example 'hello'
   */
  Arguments?: string;
  /**
   * Sites on which it may run; none: any.
   * @example ['LOCAL.demo']
   */
  Sites?: string[];
  /** Sites on which it must not run. */
  BannedSites?: string[];
  /** @example 'std.out' */
  StdOutput?: string;
  /** @example 'std.err' */
  StdError?: string;
  /** Names of uploaded files; uploaded files that are not listed are added. */
  InputSandbox?: string[];
  /** Files and patterns that are brought back; default: both outputs. */
  OutputSandbox?: string[];
  /** Catalogue paths under the virtual organisation, with or without `LFN:`. */
  InputData?: string[];
  @ApiProperty({
    type: 'integer',
    description: 'Seconds of CPU',
    required: false,
    minimum: 100,
    maximum: 500_000,
    example: 86400,
  })
  CPUTime?: number;
  @ApiProperty({
    type: 'integer',
    description: 'The queue is ordered by priority, then age',
    required: false,
    minimum: 0,
    maximum: 10,
    example: 1,
  })
  Priority?: number;
  @ApiProperty({
    type: 'integer',
    description: 'Processors that the job gets; default 1',
    required: false,
    minimum: 1,
    maximum: 1024,
  })
  NumberOfProcessors?: number;
  @ApiProperty({
    type: 'integer',
    description: 'MB of memory that must be free where it starts',
    required: false,
    minimum: 0,
    maximum: 100_000_000,
  })
  MinRAM?: number;
  @ApiProperty({
    type: 'integer',
    description: 'MB of memory; a job that takes more is ended',
    required: false,
    minimum: 1,
    maximum: 100_000_000,
  })
  MaxRAM?: number;
  @ApiProperty({
    type: 'integer',
    description: 'Seconds; a job that runs longer is ended',
    required: false,
    minimum: 1,
    maximum: 31_622_400,
  })
  WallTime?: number;
  @ApiProperty({
    type: [String],
    description: 'What the site must have; sites declare their tags in the registry',
    required: false,
    maxItems: 32,
    example: ['el9'],
  })
  Tags?: string[];
  @ApiProperty({
    type: 'integer',
    description: 'GPUs that the job gets; default 0',
    required: false,
    minimum: 0,
    maximum: 1024,
  })
  GPUs?: number;
  @ApiProperty({
    description: 'What to call it',
    required: false,
    maxLength: 128,
    example: 'hello',
  })
  JobName?: string;
  @ApiProperty({ description: 'Jobs that belong together', required: false, maxLength: 32 })
  JobGroup?: string;
  @ApiProperty({ description: 'Kind of job', required: false, enum: ['User', 'Test', 'Hospital'] })
  JobType?: string;
}

/** Many jobs in one request. */
export class ManifestsRequest {
  @ApiProperty({ type: () => [ManifestRequest] })
  manifests!: ManifestRequest[];
}

/** Jobs without files, as a form. */
export class ManifestFormRequest {
  @ApiProperty({
    type: 'string',
    description: 'A manifest as JSON text; may be repeated',
    example: '{"Executable":"/bin/echo","Arguments":"hello"}', // in a doc comment it would lose its quotes
  })
  manifest!: string;
}

/**
 * Jobs with files, as a multipart form. Every other part needs a file name and is an input file, whatever its field name.
 */
export class ManifestUploadRequest {
  @ApiProperty({
    type: 'string',
    description: 'A manifest as JSON text, or a file that holds one; may be repeated',
    example: '{"Executable":"/bin/echo","Arguments":"hello"}', // in a doc comment it would lose its quotes
  })
  manifest!: string;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'binary' },
    description: 'Input files',
    required: false,
  })
  file?: string[];
}
