import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { telling } from '../answer/feed-position.js';
import { AnswerSender } from '../answer/answer-writer.js';
import { FEED_POSITION } from '../openapi/catalogue.openapi.js';
import { CompatibleValuesService } from './compatible-values.service.js';
import { CompatibleFieldResponse } from './metadata.response.js';
import { ValuesQuery } from './values.query.js';
import { DirectoryPath } from '../path/encoded-path.decorator.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Metadata fields and the values that lead to a match. */
@ApiExtraModels(CompatibleFieldResponse)
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class MetadataController {
  constructor(
    private readonly values: CompatibleValuesService,
    private readonly answers: AnswerSender,
  ) {}

  /**
   * Metadata fields with type and values compatible with the conditions.
   *
   * @remarks Conditions are query parameters, such as `energy=>|100`; without any, all values are told.
   */
  @Get('metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({
    description: 'Field name → type and values; fields without compatible values are left out',
    headers: FEED_POSITION,
    schema: { $ref: '#/components/schemas/MetadataFieldsResponse' },
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
   * @remarks Own values, those that come from the directories above, and those of directories below that match the conditions.
   * @throws {404} The directory does not exist, or may not be seen
   */
  @Get('directory/:directory/metadata')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({
    description: 'Field name → values of the directory, those above it and the matching ones below',
    headers: FEED_POSITION,
    schema: { $ref: '#/components/schemas/DirectoryMetadataResponse' },
  })
  async readDirectoryMetadata(
    @DirectoryPath() path: string,
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
