import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { telling } from '../answer/feed-position.js';
import { AnswerSender, type AnswerWriter } from '../answer/answer-writer.js';
import { FEED_POSITION } from '../openapi/catalogue.openapi.js';
import { encodePath } from '../path/catalogue-path.js';
import { DirectoryContentsResponse } from './directory-contents.response.js';
import {
  encodeCursor,
  ListingQuery,
  wantedOf,
  type ListingCursor,
  type ListingWanted,
} from './listing.query.js';
import { NamespaceService } from './namespace.service.js';
import { DirectoryPath } from '../path/encoded-path.decorator.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Contents of directories. */
@ApiTags('file catalogue')
@Controller('filecatalogue/directory')
export class DirectoriesController {
  constructor(
    private readonly namespace: NamespaceService,
    private readonly answers: AnswerSender,
  ) {}

  /**
   * Contents of the root directory.
   *
   * @remarks As of any other directory; its path is `/`.
   */
  @Get()
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({ type: DirectoryContentsResponse, headers: FEED_POSITION })
  async listRootDirectory(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ListingQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.listDirectory('/', principal, query, response);
  }

  /**
   * Contents of a directory.
   *
   * @remarks With `verbose` also attributes and replicas; with `limit` page by page.
   * @throws {403} The root directory may not be read
   * @throws {404} The directory does not exist, or may not be seen
   */
  @Get(':directory')
  @Access('bearer', 'catalogue:read')
  @ApiOkResponse({
    type: DirectoryContentsResponse,
    headers: {
      ...FEED_POSITION,
      Link: {
        description: 'With `limit`: the next page, `rel="next"`',
        schema: { type: 'string' },
      },
    },
  })
  async listDirectory(
    @DirectoryPath() path: string,
    @CurrentPrincipal() principal: Principal,
    @Query() query: ListingQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const wanted = wantedOf(query);
    const onNext = (place: ListingCursor): void => {
      const target = `/filecatalogue/directory/${encodePath(path)}?${nextQuery(wanted, place)}`;
      response.setHeader('Link', `<${target}>; rel="next"`);
    };
    const listing = { ...wanted, path, onNext, onPosition: telling(response) };
    const write = (writer: AnswerWriter): Promise<void> =>
      this.namespace.writeListing(principal, listing, writer);
    // Whether a page follows is known at its end, and said in a header.
    await (wanted.limit === undefined
      ? this.answers.stream(response, JSON_TYPE, write)
      : this.answers.spool(response, JSON_TYPE, write, { whole: true }));
  }
}

function nextQuery({ verbose, limit }: ListingWanted, place: ListingCursor): string {
  return `${verbose ? 'verbose=true&' : ''}limit=${limit}&after=${encodeCursor(place)}`;
}
