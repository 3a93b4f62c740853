import { ApiProperty } from '@nestjs/swagger';
import { INT64 } from '../state/job.openapi.js';

/** One file of a sandbox. */
export class SandboxFileEntry {
  /** @example 'std.out' */
  name!: string;
  @ApiProperty({ ...INT64, description: 'Bytes', example: 12 })
  size!: number | bigint;
}

/** The files of a sandbox. */
export class SandboxFilesResponse {
  files!: SandboxFileEntry[];
}
