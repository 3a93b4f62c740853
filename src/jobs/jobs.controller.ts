import { Readable } from 'node:stream';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiConflictResponse,
  ApiConsumes,
  ApiExtraModels,
  ApiForbiddenResponse,
  ApiHeader,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiPayloadTooLargeResponse,
  ApiQuery,
  ApiTags,
  ApiTooManyRequestsResponse,
  ApiUnprocessableEntityResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import {
  Audited,
  labelsOf,
  queryValuesOf,
  schemaByMediaType,
  Query,
  type HttpRequest,
  type HttpResponse,
  type QueryValues,
} from '#src/platform/index.js';
import {
  ApiJobFilters,
  COUNTABLE_NAMES,
  FILTERS,
  instantQuery,
  JID_PARAM,
  MOST_COUNTS,
} from './job-filters.openapi.js';
import { JobControlService } from './job-control.service.js';
import { idRanges } from './job.js';
import {
  BulkKillResponse,
  DryRunResponse,
  JobIdResponse,
  JobListResponse,
  JobResponse,
  SubmitResponse,
} from './job.response.js';
import { JobsService } from './jobs.service.js';
import {
  ManifestFormRequest,
  ManifestRequest,
  ManifestsRequest,
  ManifestUploadRequest,
} from './manifest.request.js';
import { QueryKeys } from './query-keys.decorator.js';
import { SubmitService } from './submit/submit.service.js';

const NDJSON = {
  type: 'string',
  description: 'One manifest a line; up to GRID_MAX_BULK_BODY bytes, like `{"manifests": […]}`',
  example: '{"Executable":"/bin/true"}\n{"Executable":"/bin/false"}\n',
};

/** The routes of /jobs that the interface names, and the summary. */
@ApiTags('jobs')
@Controller('jobs')
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly submissions: SubmitService,
    private readonly control: JobControlService,
  ) {}

  /** Lists jobs, newest first. */
  @Get()
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    operationId: 'listJobs',
    summary: 'List jobs, newest first',
    description: FILTERS,
  })
  @ApiQuery({
    name: 'allOwners',
    required: false,
    type: Boolean,
    description: 'Jobs of all owners',
  })
  @ApiQuery({
    name: 'maxJobs',
    required: false,
    description: 'At most so many jobs; more than `GRID_MAX_JOBS` (10000) is taken as that many',
    schema: { type: 'integer', minimum: 1, default: 100 },
  })
  @ApiQuery({
    name: 'startJob',
    required: false,
    description: 'So many jobs are left out at the start; the page is empty behind the last one',
    schema: { type: 'integer', minimum: 0, default: 0 },
  })
  @ApiJobFilters()
  @ApiQuery({
    name: 'sort',
    required: false,
    description: 'Wire names, minus for descending: `-jid,lastUpdate`',
    schema: { type: 'string' },
  })
  @ApiQuery(instantQuery('fromDate', 'Last update at or after'))
  @ApiQuery(instantQuery('toDate', 'Last update before'))
  @ApiQuery({
    name: 'after',
    required: false,
    description: 'Cursor of the `Link: rel="next"` header',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  })
  @ApiOkResponse({ type: JobListResponse })
  @ApiBadRequestResponse({ description: 'A key or value of the query is wrong' })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<JobListResponse> {
    const { body, link } = await this.jobs.list(principal, query);
    if (link !== undefined) response.setHeader('Link', link);
    return body;
  }

  /** Counts jobs by attributes. */
  @Get('summary')
  @Access('bearer', 'jobs:read')
  @ApiOperation({ operationId: 'summarizeJobs', summary: 'Count jobs', description: FILTERS })
  @ApiQuery({
    name: 'group',
    required: false,
    description: `Attributes to count by; default \`Status\`. More than ${MOST_COUNTS} counts are refused`,
    schema: { type: 'array', items: { type: 'string', enum: COUNTABLE_NAMES } },
  })
  @ApiQuery({
    name: 'allOwners',
    required: false,
    type: Boolean,
    description: 'Jobs of all owners',
  })
  @ApiJobFilters()
  @ApiOkResponse({
    description: 'Values joined by `|` → number',
    schema: { $ref: '#/components/schemas/JobSummary' },
  })
  @ApiBadRequestResponse({
    description: `A key or value of the query is wrong, or there would be more than ${MOST_COUNTS} counts`,
  })
  async summary(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<Record<string, number>> {
    return this.jobs.summary(principal, query);
  }

  /** Submits one or many jobs: all of them or none. */
  @Post()
  @HttpCode(200)
  @Access('bearer', 'jobs:submit')
  @QueryKeys('dryRun')
  @Audited<SubmitResponse | DryRunResponse>('job.submitted', submittedJobs)
  @ApiOperation({ operationId: 'submitJobs', summary: 'Submit jobs; all of a request or none' })
  @ApiConsumes(
    'application/json',
    'application/x-ndjson',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
  )
  @ApiExtraModels(
    ManifestRequest,
    ManifestsRequest,
    ManifestUploadRequest,
    ManifestFormRequest,
    SubmitResponse,
    DryRunResponse,
  )
  @ApiBody({
    schema: schemaByMediaType({
      'application/json': { $ref: '#/components/schemas/SubmitJobsRequest' },
      'application/x-ndjson': NDJSON,
      'multipart/form-data': { $ref: getSchemaPath(ManifestUploadRequest) },
      'application/x-www-form-urlencoded': { $ref: getSchemaPath(ManifestFormRequest) },
    }),
  })
  @ApiQuery({
    name: 'dryRun',
    required: false,
    type: Boolean,
    description: 'Check, create nothing',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'Makes a retry safe for 24 h',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  })
  @ApiOkResponse({
    description: 'The ids of the new jobs; with `dryRun=true` what would be made',
    schema: { $ref: '#/components/schemas/SubmitJobsResponse' },
  })
  @ApiBadRequestResponse({ description: 'Every fault of the manifests' })
  @ApiForbiddenResponse({ description: 'The group may not submit' })
  @ApiConflictResponse({ description: 'A request with this Idempotency-Key is under way' })
  @ApiPayloadTooLargeResponse({ description: 'Too large, too many manifests or files' })
  @ApiTooManyRequestsResponse({ description: 'More submits than the limit; see Retry-After' })
  @ApiUnprocessableEntityResponse({ description: 'Idempotency-Key used with another body' })
  async submit(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Req() request: HttpRequest,
  ): Promise<SubmitResponse | StreamableFile> {
    return query.boolean('dryRun')
      ? streamedJson(await this.submissions.dryRun(principal, request))
      : this.submissions.submit(principal, request);
  }

  /** Kills many jobs; each gets its own answer. */
  @Delete()
  @Access('bearer', 'jobs:kill')
  @QueryKeys('jid', 'purge')
  @Audited<BulkKillResponse>('job.killed', killedJobs)
  @ApiOperation({ operationId: 'killJobs', summary: 'Kill many jobs' })
  @ApiQuery({
    name: 'jid',
    schema: { type: 'array', minItems: 1, items: { type: 'integer', format: 'int64', minimum: 1 } },
    description: 'Ids, at least one',
    example: [1, 2],
  })
  @ApiQuery({
    name: 'purge',
    required: false,
    type: Boolean,
    description: 'Delete them afterwards',
  })
  @ApiOkResponse({ type: BulkKillResponse })
  @ApiBadRequestResponse({ description: 'No id, or a malformed one; nothing was killed' })
  async killMany(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
  ): Promise<BulkKillResponse> {
    const purge = query.boolean('purge');
    return { results: await this.control.killMany(principal, query.all('jid'), purge) };
  }

  /** The record of a job. */
  @Get(':jid')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'getJob', summary: 'The record of a job' })
  @ApiParam(JID_PARAM)
  @ApiOkResponse({ type: JobResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<JobResponse> {
    return this.jobs.get(principal, jid);
  }

  /** The manifest of a job with the keys that the service has added. */
  @Get(':jid/manifest')
  @Access('bearer', 'jobs:read')
  @QueryKeys()
  @ApiOperation({ operationId: 'getJobManifest', summary: 'The manifest of a job' })
  @ApiParam(JID_PARAM)
  @ApiOkResponse({ type: ManifestRequest })
  @ApiForbiddenResponse({ description: 'Not yours to read' })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  async manifest(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
  ): Promise<object> {
    return this.jobs.manifest(principal, jid);
  }

  /** Kills a job: its processes end within seconds, and it stays readable. */
  @Delete(':jid')
  @Access('bearer', 'jobs:kill')
  @QueryKeys('purge')
  @Audited('job.killed', (request) => ({
    jids: [request.params['jid']],
    purge: isAsked(request, 'purge'),
  }))
  @ApiOperation({ operationId: 'killJob', summary: 'Kill a job' })
  @ApiParam(JID_PARAM)
  @ApiQuery({ name: 'purge', required: false, type: Boolean, description: 'Delete it afterwards' })
  @ApiOkResponse({ type: JobIdResponse })
  @ApiForbiddenResponse({ description: 'Not yours to change' })
  @ApiNotFoundResponse({ description: 'Unknown or not visible' })
  @ApiConflictResponse({ description: 'Its state (`jobStatus`) does not allow it' })
  async kill(
    @CurrentPrincipal() principal: Principal,
    @Param('jid') jid: string,
    @Query() query: QueryValues,
  ): Promise<JobIdResponse> {
    return { jid: await this.control.kill(principal, jid, query.boolean('purge')) };
  }
}

/** An answer that is too large to be held whole. A client that goes away ends it. */
function streamedJson(text: AsyncGenerator<string>): StreamableFile {
  const type = 'application/json; charset=utf-8';
  return new StreamableFile(Readable.from(text, { objectMode: false }), { type }).setErrorLogger(
    () => undefined,
  );
}

/** For the audit trail: which jobs of a bulk kill were killed, and how many were not. */
function killedJobs(request: HttpRequest, answer: BulkKillResponse | undefined) {
  const results = Object.entries(answer?.results ?? {});
  const jids = results.filter(([, { status }]) => status === 200).map(([jid]) => BigInt(jid));
  const [killed, refused] = [jids.length, results.length - jids.length];
  return { jids: idRanges(jids), killed, refused, purge: isAsked(request, 'purge') };
}

/** For the audit trail: which jobs were made; nothing for a dry run or a repeated request. */
function submittedJobs(request: HttpRequest, answer: SubmitResponse | DryRunResponse | undefined) {
  if (isAsked(request, 'dryRun') || labelsOf(request)['repeated'] !== undefined) return undefined;
  const jids = answer && 'jids' in answer ? answer.jids : [];
  return { jobs: jids.length, jids: idRanges(jids) };
}

/** Is the flag of the query set? Never throws: a bad spelling was refused before. */
function isAsked(request: HttpRequest, flag: string): boolean {
  const query = queryValuesOf(request);
  return query.all(flag).length === 1 && /^(true|1|yes|)$/i.test(query.all(flag)[0] ?? '');
}
