import { Controller, Get, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { FileAttributesResponse } from './directory-contents.response.js';
import { FileMetadataQuery } from './file-metadata.query.js';
import { NamespaceService } from './namespace.service.js';
import { FilePath } from '../path/encoded-path.decorator.js';

/** What is known of files. */
@ApiNotFoundResponse({ description: 'The file does not exist, or may not be seen' })
@ApiTags('file catalogue')
@Controller('filecatalogue/file/:file')
export class FilesController {
  constructor(private readonly namespace: NamespaceService) {}

  /**
   * Attributes of a file.
   *
   * @remarks Size, checksum, GUID, owner, mode and times.
   */
  @Get('attributes')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({ type: FileAttributesResponse })
  async readFileAttributes(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<Record<string, unknown>> {
    return this.namespace.fileAttributes(principal, path);
  }

  /**
   * User metadata of a file: declared fields and free keys.
   *
   * @remarks With `inherited` also what holds for its directory; own values win.
   */
  @Get('metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({ schema: { $ref: '#/components/schemas/MetadataValues' } })
  async readFileMetadata(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() { inherited }: FileMetadataQuery,
  ): Promise<JsonObject> {
    return this.namespace.fileMetadata(principal, path, inherited);
  }
}
