import { ApiProperty } from '@nestjs/swagger';
import { ManifestRequest } from '../manifest/manifest.request.js';
import { WARNING_CODES, type ManifestWarning } from '../manifest/manifest-warning.js';
import { INT64 } from '../state/job.openapi.js';

/** What looks like a mistake in a manifest that was accepted. */
export class SubmitWarning implements ManifestWarning {
  @ApiProperty({ enum: Object.keys(WARNING_CODES), example: 'manifest.alias' })
  code!: ManifestWarning['code'];
  /** @example 'StdOut is read as StdOutput' */
  detail!: string;
  /**
   * RFC 6901: into the manifest; of several manifests, however they were sent, into `{"manifests": […]}`.
   * @example '/StdOut'
   */
  pointer!: string;
}

/** Answer to a submit. */
export class SubmitResponse {
  @ApiProperty({
    type: 'array',
    items: INT64,
    description: 'Ids of the new jobs, in the order of the manifests',
    example: [101, 102],
  })
  jids!: (number | bigint)[];
  @ApiProperty({
    ...INT64,
    description: 'Id of the array that the jobs are; only when one was asked for',
    required: false,
    example: 12,
  })
  arrayId?: number | bigint;
  @ApiProperty({
    type: () => [SubmitWarning],
    required: false,
    description:
      'What looks like a mistake but was accepted, the first 100; absent when there is nothing',
  })
  warnings?: SubmitWarning[];
}

/** Answer to a submit with `dryRun=true`. */
export class DryRunResponse {
  valid!: true;
  @ApiProperty({ type: 'integer', description: 'How many jobs would be made', example: 1 })
  jobs!: number;
  @ApiProperty({
    type: () => [ManifestRequest],
    description: 'The manifests as they would be stored, one for each job',
  })
  manifests!: Record<string, unknown>[];
  @ApiProperty({
    type: () => [SubmitWarning],
    description: 'What looks like a mistake but would be accepted, the first 100',
  })
  warnings!: SubmitWarning[];
}
