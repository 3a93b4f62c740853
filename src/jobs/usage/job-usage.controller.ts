import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { accepts, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { csvOf } from './job-usage.csv.js';
import { JobUsageQuery } from './job-usage.query.js';
import { JobUsageResponse } from './job-usage.response.js';
import { JobUsageService } from './job-usage.service.js';

const JSON_TYPE = 'application/json';
const CSV_TYPE = 'text/csv';

/** What runs have used. */
@ApiTags('jobs')
@Controller('jobs')
export class JobUsageController {
  constructor(private readonly usage: JobUsageService) {}

  /**
   * What runs have used: processor time, memory, energy.
   *
   * @throws {400} A time, a key of `by`, or too many rows
   */
  @Get('usage')
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    description:
      'Runs that have ended, by month and group or whatever is asked for, killed and failed ones too; kept when their jobs are deleted. Seen are those of jobs that you may see.',
  })
  @ApiExtraModels(JobUsageResponse)
  @ApiOkResponse({
    description: 'The report; with `Accept: text/csv` its rows as a table (RFC 4180)',
    content: {
      [JSON_TYPE]: { schema: { $ref: getSchemaPath(JobUsageResponse) } },
      [CSV_TYPE]: { schema: { type: 'string' } },
    },
  })
  async reportJobUsage(
    @CurrentPrincipal() principal: Principal,
    @Query() query: JobUsageQuery,
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<JobUsageResponse | string> {
    const report = await this.usage.report(principal, query);
    response.vary('Accept');
    if (!accepts(request, CSV_TYPE, JSON_TYPE)) return report;
    response.type(`${CSV_TYPE}; charset=utf-8; header=present`);
    return csvOf(report, query.by);
  }
}
