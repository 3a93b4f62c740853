import { ApiProperty } from '@nestjs/swagger';
import { INT64 } from '../state/job.openapi.js';

/** One file of a sandbox. */
export class SandboxFileEntry {
  /** @example 'std.out' */
  name!: string;
  @ApiProperty({
    ...INT64,
    description: 'Bytes; of a link those of the file to which it leads',
    example: 12,
  })
  size!: number | bigint;
  /**
   * A symbolic link: the path in the sandbox to which it leads, a file, a directory, or nothing that was brought back.
   *
   * @example 'out/run_0042.root'
   */
  link?: string;
  /**
   * An empty directory, which has no bytes to read; directories with files in them are part of the names of these.
   *
   * @example true
   */
  directory?: boolean;
  /**
   * Its owner may execute it; of a link the file to which it leads.
   *
   * @example true
   */
  executable?: boolean;
}

/** The files of a sandbox. */
export class SandboxFilesResponse {
  files!: SandboxFileEntry[];
}
