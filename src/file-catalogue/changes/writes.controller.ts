import { Body, Controller, Delete, Patch, Post, Put, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiForbiddenResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import { Audited } from '#src/audit/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { CatalogueWriteService } from './catalogue-write.service.js';
import { DeclareFieldRequest, MakeDirectoryRequest, MetadataValues } from './writes.request.js';
import { DeletedResponse, FieldResponse, MadeResponse } from './writes.response.js';
import { auditedPath, DirectoryPath, FilePath } from '../path/encoded-path.decorator.js';

const OWN_VALUES = {
  description: 'The own values afterwards',
  schema: { $ref: '#/components/schemas/MetadataValues' },
};

/** Changes of directories, files and metadata, one at a time. */
@ApiForbiddenResponse({ description: 'Not allowed in this directory' })
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class WritesController {
  constructor(private readonly writes: CatalogueWriteService) {}

  /**
   * Make a directory and those above it.
   *
   * @remarks A directory that is there already is answered with 200.
   * @throws {409} A file has this path
   */
  @Post('directory/:directory')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.directory-set', ({ params }) => pathOf(params['directory']))
  @ApiCreatedResponse({ type: MadeResponse })
  @ApiOkResponse({ type: MadeResponse, description: 'It was there' })
  async makeDirectory(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() body: MakeDirectoryRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<MadeResponse> {
    const created = await this.writes.makeDirectory(principal, path, body);
    response.status(created ? 201 : 200);
    return { path, created };
  }

  /**
   * Remove an empty directory.
   *
   * @remarks Its metadata go with it.
   * @throws {404} The directory does not exist
   * @throws {409} The directory is not empty
   */
  @Delete('directory/:directory')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.deleted', ({ params }) => pathOf(params['directory'], 'directory'))
  async deleteDirectory(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeletedResponse> {
    await this.writes.remove(principal, 'directory', path);
    return { path, deleted: true };
  }

  /**
   * Remove a file from the catalogue.
   *
   * @remarks Its replicas and metadata are forgotten. Bytes that came through this service (`POST /filecatalogue/access`, `create`) are removed from their storage elements
   * soon, but not before whoever was let in to write them is let in no longer, up to an hour and two minutes after the file was registered; until
   * then its path answers 409 `catalogue.being-removed`. Other replicas are not touched. Of a path that the caller holds for bytes the upload
   * ends.
   * @throws {404} The file does not exist
   */
  @Delete('file/:file')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.deleted', ({ params }) => pathOf(params['file'], 'file'))
  async deleteFile(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeletedResponse> {
    const removing = await this.writes.remove(principal, 'file', path);
    return { path, deleted: true, ...(removing && { removing }) };
  }

  /**
   * Declare a metadata field.
   *
   * @remarks To declare it again with its type is harmless.
   * @throws {409} It exists with another type
   */
  @Post('metadata')
  @Access('bearer', 'catalogue:write')
  @Audited<FieldResponse>('catalogue.field-declared', (_request, field) => ({ ...field }))
  @ApiCreatedResponse({ type: FieldResponse })
  @ApiOkResponse({ type: FieldResponse, description: 'It exists with this type' })
  async declareField(
    @CurrentPrincipal() principal: Principal,
    @Body() body: DeclareFieldRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<FieldResponse> {
    const created = await this.writes.declareField(principal, body);
    response.status(created ? 201 : 200);
    return { name: body.name, type: body.type };
  }

  /**
   * Replace the values set on a directory.
   *
   * @remarks Values that are left out are removed; inherited ones stay.
   * @throws {404} The directory does not exist
   * @throws {409} A field is set above or below already
   */
  @Put('directory/:directory/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['directory'], 'directory'))
  @ApiOkResponse(OWN_VALUES)
  async replaceDirectoryMetadata(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeDirectoryMetadata(principal, path, { mode: 'replace', values });
  }

  /**
   * Change values set on a directory; null removes one.
   *
   * @remarks Values that are left out stay as they are.
   * @throws {404} The directory does not exist
   * @throws {409} A field is set above or below already
   */
  @Patch('directory/:directory/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['directory'], 'directory'))
  @ApiOkResponse(OWN_VALUES)
  async mergeDirectoryMetadata(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeDirectoryMetadata(principal, path, { mode: 'merge', values });
  }

  /**
   * Replace the metadata of a file.
   *
   * @remarks Keys that are left out are removed.
   * @throws {404} The file does not exist
   */
  @Put('file/:file/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['file'], 'file'))
  @ApiOkResponse(OWN_VALUES)
  async replaceFileMetadata(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeFileMetadata(principal, path, { mode: 'replace', values });
  }

  /**
   * Change metadata of a file; null removes a key.
   *
   * @remarks Keys that are left out stay as they are.
   * @throws {404} The file does not exist
   */
  @Patch('file/:file/metadata')
  @Access('bearer', 'catalogue:write')
  @Audited('catalogue.metadata-set', ({ params }) => pathOf(params['file'], 'file'))
  @ApiOkResponse(OWN_VALUES)
  async mergeFileMetadata(
    @FilePath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Body() { values }: MetadataValues,
  ): Promise<JsonObject> {
    return this.writes.changeFileMetadata(principal, path, { mode: 'merge', values });
  }
}

/** For the audit trail. */
function pathOf(encoded: string | string[] | undefined, kind?: 'directory' | 'file') {
  return { ...(kind && { kind }), path: auditedPath(encoded) };
}
