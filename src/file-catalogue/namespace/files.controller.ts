import { Controller, Get, Param, Query } from '@nestjs/common';
import {
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { WithoutTurn } from '#src/platform/index.js';
import { FILE_PARAM } from '../openapi/catalogue.openapi.js';
import { FilePathPipe } from '../path/encoded-path.pipe.js';
import { FileAttributesResponse } from './directory-contents.response.js';
import { FileMetadataQuery } from './file-metadata.query.js';
import { NamespaceService } from './namespace.service.js';

/** What is known of files. */
@ApiTags('file catalogue')
@ApiParam(FILE_PARAM)
@ApiNotFoundResponse({ description: 'The file does not exist, or may not be seen' })
@Controller('filecatalogue/file/:file')
export class FilesController {
  constructor(private readonly namespace: NamespaceService) {}

  @Get('attributes')
  @WithoutTurn()
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'Attributes of a file' })
  @ApiOkResponse({ type: FileAttributesResponse })
  async readFileAttributes(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<Record<string, unknown>> {
    return this.namespace.fileAttributes(principal, path);
  }

  @Get('metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'User metadata of a file: declared fields and free keys' })
  @ApiOkResponse({ schema: { $ref: '#/components/schemas/MetadataValues' } })
  async readFileMetadata(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() { inherited }: FileMetadataQuery,
  ): Promise<JsonObject> {
    return this.namespace.fileMetadata(principal, path, inherited);
  }
}
