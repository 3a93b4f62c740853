import { Body, Controller, Delete, Param, Patch, Post, Put, Res } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { Audited, type HttpResponse } from '#src/platform/index.js';
import { DIRECTORY_PARAM, FILE_PARAM } from '../openapi/catalogue.openapi.js';
import { DirectoryPathPipe, FilePathPipe } from '../path/encoded-path.pipe.js';
import { CatalogueWriteService } from './catalogue-write.service.js';
import {
  DeclareFieldRequest,
  MakeDirectoryRequest,
  MetadataValues,
  RegisterFileRequest,
} from './writes.request.js';
import { DeletedResponse, FieldResponse, MadeResponse } from './writes.response.js';

const OWN_VALUES = {
  description: 'The own values afterwards',
  schema: { $ref: '#/components/schemas/MetadataValues' },
};

/** Changes of directories, files and metadata, one at a time. */
@ApiTags('file catalogue')
@ApiForbiddenResponse({ description: 'Not allowed in this directory' })
@Controller('filecatalogue')
export class WritesController {
  constructor(private readonly writes: CatalogueWriteService) {}

  @Post('directory/:directory')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.directory-set', ({ params }) => pathOf(params['directory']))
  @ApiOperation({ summary: 'Make a directory and those above it' })
  @ApiParam(DIRECTORY_PARAM)
  @ApiCreatedResponse({ type: MadeResponse })
  @ApiOkResponse({ type: MadeResponse, description: 'It was there' })
  @ApiConflictResponse({ description: 'A file has this path' })
  async makeDirectory(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() body: MakeDirectoryRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<MadeResponse> {
    const created = await this.writes.makeDirectory(principal, path, body);
    response.status(created ? 201 : 200);
    return { path, created };
  }

  @Delete('directory/:directory')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.deleted', ({ params }) => pathOf(params['directory'], 'directory'))
  @ApiOperation({ summary: 'Remove an empty directory' })
  @ApiParam(DIRECTORY_PARAM)
  @ApiOkResponse({ type: DeletedResponse })
  @ApiNotFoundResponse({ description: 'The directory does not exist' })
  @ApiConflictResponse({ description: 'The directory is not empty' })
  async deleteDirectory(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeletedResponse> {
    await this.writes.remove(principal, 'directory', path);
    return { path, deleted: true };
  }

  @Put('file/:file')
  @Access('bearer', 'catalogue:write')
  @Audited<MadeResponse>('catalogue.file-registered', ({ params }, answer) => ({
    ...pathOf(params['file']),
    ...(answer && { created: answer.created }),
  }))
  @ApiOperation({ summary: 'Register a file; missing directories are made' })
  @ApiParam(FILE_PARAM)
  @ApiCreatedResponse({ type: MadeResponse })
  @ApiOkResponse({ type: MadeResponse, description: 'The same file was registered' })
  @ApiConflictResponse({
    description: 'Another content is registered, or a directory has this path',
  })
  async registerFile(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() body: RegisterFileRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<MadeResponse> {
    const created = await this.writes.registerFile(principal, path, body);
    response.status(created ? 201 : 200);
    return { path, created };
  }

  @Delete('file/:file')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.deleted', ({ params }) => pathOf(params['file'], 'file'))
  @ApiOperation({ summary: 'Remove a file from the catalogue' })
  @ApiParam(FILE_PARAM)
  @ApiOkResponse({ type: DeletedResponse })
  @ApiNotFoundResponse({ description: 'The file does not exist' })
  async deleteFile(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeletedResponse> {
    await this.writes.remove(principal, 'file', path);
    return { path, deleted: true };
  }

  @Post('metadata')
  @Access('bearer', 'catalogue:write')
  @Audited<FieldResponse>('catalogue.field-declared', (_request, field) => ({ ...field }))
  @ApiOperation({ summary: 'Declare a metadata field' })
  @ApiCreatedResponse({ type: FieldResponse })
  @ApiOkResponse({ type: FieldResponse, description: 'It exists with this type' })
  @ApiConflictResponse({ description: 'It exists with another type' })
  async declareField(
    @CurrentPrincipal() principal: Principal,
    @Body() body: DeclareFieldRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<FieldResponse> {
    const created = await this.writes.declareField(principal, body);
    response.status(created ? 201 : 200);
    return { name: body.name, type: body.type };
  }

  @Put('directory/:directory/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['directory'], 'directory'))
  @ApiOperation({ summary: 'Replace the values set on a directory' })
  @ApiParam(DIRECTORY_PARAM)
  @ApiOkResponse(OWN_VALUES)
  @ApiNotFoundResponse({ description: 'The directory does not exist' })
  @ApiConflictResponse({ description: 'A field is set above or below already' })
  async replaceDirectoryMetadata(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeDirectoryMetadata(principal, path, { mode: 'replace', values });
  }

  @Patch('directory/:directory/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['directory'], 'directory'))
  @ApiOperation({ summary: 'Change values set on a directory; null removes one' })
  @ApiParam(DIRECTORY_PARAM)
  @ApiOkResponse(OWN_VALUES)
  @ApiNotFoundResponse({ description: 'The directory does not exist' })
  @ApiConflictResponse({ description: 'A field is set above or below already' })
  async mergeDirectoryMetadata(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeDirectoryMetadata(principal, path, { mode: 'merge', values });
  }

  @Put('file/:file/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['file'], 'file'))
  @ApiOperation({ summary: 'Replace the metadata of a file' })
  @ApiParam(FILE_PARAM)
  @ApiOkResponse(OWN_VALUES)
  @ApiNotFoundResponse({ description: 'The file does not exist' })
  async replaceFileMetadata(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeFileMetadata(principal, path, { mode: 'replace', values });
  }

  @Patch('file/:file/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['file'], 'file'))
  @ApiOperation({ summary: 'Change metadata of a file; null removes a key' })
  @ApiParam(FILE_PARAM)
  @ApiOkResponse(OWN_VALUES)
  @ApiNotFoundResponse({ description: 'The file does not exist' })
  async mergeFileMetadata(
    @Param('file', FilePathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeFileMetadata(principal, path, { mode: 'merge', values });
  }
}

/** For the audit trail: the path of an address, as far as it can be read. */
function pathOf(encoded: string | string[] | undefined, kind?: 'directory' | 'file') {
  const path = Buffer.from(String(encoded), 'base64url').toString('utf8');
  return { ...(kind && { kind }), path };
}
