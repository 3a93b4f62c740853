import { Controller, Get, Param } from '@nestjs/common';
import {
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { Query, QueryValues } from '#src/platform/index.js';
import { FILE_PARAM } from '../openapi/catalogue.openapi.js';
import { FilePathPipe } from '../path/encoded-path.pipe.js';
import { FileAttributesResponse } from './directory-contents.response.js';
import { NamespaceService } from './namespace.service.js';

/** What is known of files. */
@ApiTags('file catalogue')
@ApiParam(FILE_PARAM)
@ApiNotFoundResponse({ description: 'The file does not exist, or may not be seen' })
@Controller('filecatalogue/file/:file')
export class FilesController {
  constructor(private readonly namespace: NamespaceService) {}

  @Get('attributes')
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'Attributes of a file' })
  @ApiOkResponse({ type: FileAttributesResponse })
  async readFileAttributes(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<Record<string, unknown>> {
    query.allowOnly([]);
    return this.namespace.fileAttributes(principal, path);
  }

  @Get('metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'User metadata of a file: declared fields and free keys' })
  @ApiQuery({
    name: 'inherited',
    description: 'Merge the values of the directories above; own values win',
    required: false,
    schema: { type: 'boolean', default: false },
  })
  @ApiOkResponse({ schema: { $ref: '#/components/schemas/MetadataValues' } })
  async readFileMetadata(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<JsonObject> {
    query.allowOnly(['inherited']);
    return this.namespace.fileMetadata(principal, path, query.boolean('inherited'));
  }
}
