import { Controller, Get, Query, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiProduces,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { AnswerSender } from '../answer/answer-writer.js';
import { telling } from '../answer/feed-position.js';
import { acceptedType } from '../answer/accepted-type.js';
import { ConditionsQuery } from '../metadata/conditions.query.js';
import { FEED_POSITION } from '../openapi/catalogue.openapi.js';
import { FoundTreeResponse } from './search.response.js';
import { SearchService } from './search.service.js';
import { DirectoryPath } from '../path/encoded-path.decorator.js';

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';

/** Directories found by metadata. */
@ApiTags('file catalogue')
@Controller('filecatalogue/directory')
export class SearchController {
  constructor(
    private readonly search: SearchService,
    private readonly answers: AnswerSender,
  ) {}

  /**
   * Subdirectories that match the metadata conditions, with exact totals.
   *
   * @remarks Conditions are query parameters, such as `energy=>|100`; all of them have to match. Totals count the files below each directory.
   * @throws {404} The start directory does not exist, or may not be seen
   */
  @Get(':directory/search')
  @Access('bearer', 'catalogue:read')
  @ApiProduces(JSON_TYPE, LINES_TYPE)
  @ApiExtraModels(FoundTreeResponse)
  @ApiOkResponse({
    description:
      'The tree; with `Accept: application/x-ndjson` a line `{"path","files","size"}` per directory',
    schema: { $ref: getSchemaPath(FoundTreeResponse) },
    headers: FEED_POSITION,
  })
  async searchDirectory(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() { conditions }: ConditionsQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const type = acceptedType(response.req.headers.accept, [JSON_TYPE, LINES_TYPE]);
    const wanted = { path, conditions, onPosition: telling(response) };
    response.vary('Accept');
    await this.answers.spool(response, `${type}; charset=utf-8`, (writer) =>
      type === LINES_TYPE
        ? this.search.writeLines(principal, wanted, writer)
        : this.search.writeTree(principal, wanted, writer),
    );
  }
}
