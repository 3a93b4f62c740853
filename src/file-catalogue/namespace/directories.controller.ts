import { Controller, Get, Param, Res } from '@nestjs/common';
import {
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Query, QueryValues, type HttpResponse } from '#src/platform/index.js';
import { streamAnswer } from '../answer-writer.js';
import { DIRECTORY_PARAM } from '../openapi.js';
import { encodePath } from '../path/catalogue-path.js';
import { DirectoryPathPipe } from '../path/encoded-path.pipe.js';
import { DirectoryContentsResponse } from './directory-contents.response.js';
import { AFTER_QUERY, LIMIT_QUERY, VERBOSE_QUERY } from './listing.openapi.js';
import { readListingQuery, writePlace } from './listing.query.js';
import { NamespaceService } from './namespace.service.js';

/** Contents of directories. */
@ApiTags('file catalogue')
@Controller('filecatalogue/directory')
export class DirectoriesController {
  constructor(private readonly namespace: NamespaceService) {}

  @Get()
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'Contents of the root directory' })
  @ApiQuery(VERBOSE_QUERY)
  @ApiQuery(LIMIT_QUERY)
  @ApiQuery(AFTER_QUERY)
  @ApiOkResponse({ type: DirectoryContentsResponse })
  async listRootDirectory(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.listDirectory('/', principal, query, response);
  }

  @Get(':directory')
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'Contents of a directory' })
  @ApiParam(DIRECTORY_PARAM)
  @ApiQuery(VERBOSE_QUERY)
  @ApiQuery(LIMIT_QUERY)
  @ApiQuery(AFTER_QUERY)
  @ApiOkResponse({
    type: DirectoryContentsResponse,
    headers: {
      Link: {
        description: 'With `limit`: the next page, `rel="next"`',
        schema: { type: 'string' },
      },
    },
  })
  @ApiForbiddenResponse({ description: 'The directory may not be read' })
  @ApiNotFoundResponse({ description: 'The directory does not exist' })
  async listDirectory(
    @Param('directory', DirectoryPathPipe) path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const wanted = readListingQuery(query);
    await streamAnswer(response, 'application/json; charset=utf-8', (writer) =>
      this.namespace.writeListing(
        principal,
        {
          ...wanted,
          path,
          onNext: (place) => {
            const verbose = wanted.verbose ? 'verbose=true&' : '';
            const next = `${verbose}limit=${wanted.limit}&after=${writePlace(place)}`;
            const target = `/filecatalogue/directory/${encodePath(path)}?${next}`;
            response.setHeader('Link', `<${target}>; rel="next"`);
          },
        },
        writer,
      ),
    );
  }
}
