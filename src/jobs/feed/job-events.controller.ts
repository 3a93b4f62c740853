import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, principalNow, type Principal } from '#src/auth/index.js';
import { CURSOR_PATTERN, FeedAnswers, type Tell } from '#src/events/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { FILTERS } from '../list/job-list.openapi.js';
import { JobEventsQuery } from './job-events.query.js';
import { JobEventsResponse } from './job-events.response.js';
import { JobFeed, jobEventText, type JobEvent } from './job-feed.js';
import { jobSelector } from './job-selector.js';

const TEXT = { schema: { type: 'string' } } as const;

/** Moves of jobs, as they happen. */
@ApiTags('jobs')
@Controller('jobs/events')
export class JobEventsController {
  constructor(
    private readonly feed: JobFeed,
    private readonly answers: FeedAnswers,
    private readonly policy: JobPolicy,
  ) {}

  /**
   * Moves of jobs as they happen.
   *
   * @throws {400} A key or value of the query is wrong
   * @throws {410} Events behind this position are not kept: list again
   */
  @Get()
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    description: `As server-sent events, as lines with \`Accept: application/x-ndjson\`, or with \`wait\` once as JSON. ${FILTERS}`,
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Goes before `after`: browsers send it when they connect again.',
    schema: { type: 'string', pattern: CURSOR_PATTERN },
  })
  @ApiExtraModels(JobEventsResponse)
  @ApiOkResponse({
    description: '`event: job` for each move, with its position as `id`',
    content: {
      'text/event-stream': TEXT,
      'application/x-ndjson': TEXT,
      'application/json': { schema: { $ref: getSchemaPath(JobEventsResponse) } },
    },
  })
  async readJobEvents(
    @CurrentPrincipal() principal: Principal,
    @Query() query: JobEventsQuery,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const { feed } = this;
    const { user } = principal;
    await this.answers.answer({
      ...{ request, response, user, feed },
      after: query.after,
      wait: query.wait,
      rights: () => this.rightsOf(principal, query),
    });
  }

  /** What the bearer may be told as things stand now; undefined when the token is no good any more. */
  private async rightsOf(
    principal: Principal,
    query: JobEventsQuery,
  ): Promise<Tell<JobEvent> | undefined> {
    const caller = await principalNow(principal);
    if (!caller?.scopes.has('jobs:read')) return undefined;
    const select = jobSelector(query, this.policy.visibility(caller, query.allOwners));
    return (event) => {
      const told = select(event);
      return told && { event: told, data: jobEventText(event) };
    };
  }
}
