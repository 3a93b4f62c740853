import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  Access,
  CurrentPrincipal,
  principalNow,
  requirePath,
  type Principal,
} from '#src/auth/index.js';
import { CURSOR_PATTERN, FeedAnswers, type Tell } from '#src/events/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import type { LoggedChange } from '../events/logged-change.js';
import { CatalogueEventsQuery } from './catalogue-events.query.js';
import { CatalogueEventsResponse } from './catalogue-events.response.js';
import { CatalogueFeed } from './catalogue-feed.js';
import { CatalogueTeller } from './catalogue-teller.service.js';

const TEXT = { schema: { type: 'string' } } as const;

/** Changes of the catalogue, as they happen. */
@ApiTags('file catalogue')
@Controller('filecatalogue/events')
export class CatalogueEventsController {
  constructor(
    private readonly feed: CatalogueFeed,
    private readonly answers: FeedAnswers,
    private readonly teller: CatalogueTeller,
  ) {}

  /**
   * Changes of directories, files and metadata as they happen.
   *
   * @throws {400} A key or value of the query is wrong
   * @throws {410} Events behind this position are not kept: list again
   */
  @Get()
  @Access('bearer', 'catalogue:read')
  @ApiOperation({
    description:
      'As server-sent events, as lines with `Accept: application/x-ndjson`, or with `wait` once as JSON. Told is what lists show.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Goes before `after`: browsers send it when they connect again.',
    schema: { type: 'string', pattern: CURSOR_PATTERN },
  })
  @ApiExtraModels(CatalogueEventsResponse)
  @ApiOkResponse({
    description:
      '`event: directory`, `file` or `metadata` for each change, with its position as `id`',
    content: {
      'text/event-stream': TEXT,
      'application/x-ndjson': TEXT,
      'application/json': { schema: { $ref: getSchemaPath(CatalogueEventsResponse) } },
    },
  })
  async readCatalogueEvents(
    @CurrentPrincipal() principal: Principal,
    @Query() { prefix, after, wait }: CatalogueEventsQuery,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    requirePath(principal, 'read', { path: prefix, kind: 'directory' });
    const { feed } = this;
    const { user } = principal;
    await this.answers.answer<LoggedChange>({
      ...{ request, response, user, feed, after, wait },
      rights: (events) => this.rightsOf(principal, prefix, events),
    });
  }

  /** What the bearer may be told of these changes as things stand now; undefined when the token is no good any more. */
  private async rightsOf(
    principal: Principal,
    prefix: string,
    changes: readonly LoggedChange[],
  ): Promise<Tell<LoggedChange> | undefined> {
    const caller = await principalNow(principal);
    if (!caller?.scopes.has('catalogue:read')) return undefined;
    return this.teller.tellOf(caller, prefix, changes);
  }
}
