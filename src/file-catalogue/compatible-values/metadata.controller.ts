import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { telling } from '../answer/feed-position.js';
import { AnswerSender } from '../answer/answer-writer.js';
import { FEED_POSITION } from '../openapi/catalogue.openapi.js';
import { DirectoryPathPipe } from '../path/encoded-path.pipe.js';
import { CompatibleValuesService } from './compatible-values.service.js';
import { CompatibleFieldResponse } from './metadata.response.js';
import { ValuesQuery } from './values.query.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Metadata fields and the values that lead to a match. */
@ApiExtraModels(CompatibleFieldResponse)
@Controller('filecatalogue')
export class MetadataController {
  constructor(
    private readonly values: CompatibleValuesService,
    private readonly answers: AnswerSender,
  ) {}

  /** Metadata fields with type and values compatible with the conditions. */
  @Get('metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({
    description: 'Field name → type and values; fields without compatible values are left out',
    headers: FEED_POSITION,
    schema: {
      type: 'object',
      additionalProperties: { $ref: getSchemaPath(CompatibleFieldResponse) },
      example: { energy: { type: 'int', values: [100, 250] } },
    },
  })
  async readMetadata(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ValuesQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const wanted = { path: '/', shape: 'fields' as const, onPosition: telling(response), ...query };
    await this.answers.spool(response, JSON_TYPE, (writer) =>
      this.values.write(principal, wanted, writer),
    );
  }

  /**
   * Metadata values of the directory compatible with the conditions.
   *
   * @throws {404} The directory does not exist, or may not be seen
   */
  @Get('directory/:directory/metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({
    description: 'Field name → values of the directory, those above it and the matching ones below',
    headers: FEED_POSITION,
    schema: {
      type: 'object',
      additionalProperties: { $ref: '#/components/schemas/DirectoryField' },
      example: { energy: [100], run: [1, 2] },
    },
  })
  async readDirectoryMetadata(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() query: ValuesQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const wanted = { path, shape: 'lists' as const, onPosition: telling(response), ...query };
    await this.answers.spool(response, JSON_TYPE, (writer) =>
      this.values.write(principal, wanted, writer),
    );
  }
}
