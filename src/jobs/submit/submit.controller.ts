import { Readable } from 'node:stream';
import { Controller, HttpCode, Post, Query, Req, StreamableFile } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import { labelsOf, type HttpRequest } from '#src/http/index.js';
import { isAsked } from '../access/asked-flag.js';
import {
  ManifestFormRequest,
  ManifestRequest,
  ManifestsRequest,
  ManifestUploadRequest,
} from '../manifest/manifest.request.js';
import { idRanges } from '../state/job.js';
import { SubmitQuery } from './submit.query.js';
import { DryRunResponse, SubmitResponse } from './submit.response.js';
import { SubmitService } from './submit.service.js';

const NDJSON = {
  type: 'string',
  description: 'One manifest a line; up to GRID_MAX_BULK_BODY bytes, like `{"manifests": […]}`',
  example: '{"Executable":"/bin/true"}\n{"Executable":"/bin/false"}\n',
};

/** Submits. */
@ApiTags('jobs')
@Controller('jobs')
export class SubmitController {
  constructor(private readonly submissions: SubmitService) {}

  /**
   * Submit jobs; all of a request or none.
   *
   * @remarks One manifest or many, as JSON, as lines, as a form, or with input files as `multipart/form-data`. With `dryRun` nothing is made.
   * @throws {400} Every fault of the manifests
   * @throws {403} The group may not submit
   * @throws {409} A request with this Idempotency-Key is under way
   * @throws {413} Too large, too many manifests or files
   * @throws {422} Idempotency-Key used with another body
   * @throws {429} More submits than the limit; see Retry-After
   */
  @Post()
  @HttpCode(200)
  @Access('bearer', 'jobs:submit')
  @Audited<SubmitResponse | DryRunResponse>('job.submitted', submittedJobs)
  @ApiExtraModels(
    ManifestRequest,
    ManifestsRequest,
    ManifestUploadRequest,
    ManifestFormRequest,
    SubmitResponse,
    DryRunResponse,
  )
  @ApiOperation({
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/SubmitJobsRequest' } },
        'application/x-ndjson': { schema: NDJSON },
        'multipart/form-data': { schema: { $ref: getSchemaPath(ManifestUploadRequest) } },
        'application/x-www-form-urlencoded': {
          schema: { $ref: getSchemaPath(ManifestFormRequest) },
        },
      },
    },
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'Makes a retry safe for 24 h',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  })
  @ApiOkResponse({
    description: 'The ids of the new jobs; with `dryRun=true` what would be made',
    schema: { $ref: '#/components/schemas/SubmittedJobsResponse' },
  })
  async submitJobs(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SubmitQuery,
    @Req() request: HttpRequest,
  ): Promise<SubmitResponse | StreamableFile> {
    return query.dryRun
      ? streamedJson(await this.submissions.dryRun(principal, request, query))
      : this.submissions.submit(principal, request, query);
  }
}

/** An answer that is too large to be held whole. A client that goes away ends it. */
function streamedJson(text: AsyncGenerator<string>): StreamableFile {
  const type = 'application/json; charset=utf-8';
  return new StreamableFile(Readable.from(text, { objectMode: false }), { type }).setErrorLogger(
    () => undefined,
  );
}

/** For the audit trail: which jobs were made; nothing for a dry run or a repeated request. */
function submittedJobs(request: HttpRequest, answer: SubmitResponse | DryRunResponse | undefined) {
  if (isAsked(request, 'dryRun') || labelsOf(request)['repeated'] !== undefined) return undefined;
  const { jids, arrayId } = answer && 'jids' in answer ? answer : { jids: [] };
  const array = arrayId === undefined ? {} : { arrayId: String(arrayId) };
  return { jobs: jids.length, jids: idRanges(jids), ...array };
}
