import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/platform/index.js';
import { JID_PARAM } from '../state/job.openapi.js';
import { JobOutputQuery } from './job-output.query.js';
import { JobOutputService } from './job-output.service.js';

/** Single files of what a job writes, while it runs and afterwards. */
@ApiTags('jobs')
@Controller('jobs/:jid')
export class JobOutputController {
  constructor(private readonly outputs: JobOutputService) {}

  /** A file of the output of a running or ended job. */
  @Get('output/*name')
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    operationId: 'readJobOutput',
    summary: 'A file of the output, also while the job runs',
    description:
      'Files that the job gives back, and its standard output and error as `std.out` and `std.err` whatever their names. Byte ranges are honoured. With `follow` the answer goes on until the job has ended; with `Accept: text/event-stream` as events `output` (`{"text"}`), `restart` (`{"attempt"}`: the file begins anew) and `end` (`{"reason","status"}`), which `Last-Event-ID` resumes.',
  })
  @ApiParam(JID_PARAM)
  @ApiParam({
    name: 'name',
    description: 'Its name',
    schema: { type: 'string', example: 'std.out' },
  })
  @ApiProduces('application/octet-stream', 'text/event-stream')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  @ApiForbiddenResponse({ description: 'Not yours to read' })
  @ApiNotFoundResponse({ description: 'Unknown, not visible, or there is no such file' })
  @ApiConflictResponse({ description: 'The job has not begun, and is not followed' })
  async read(
    @CurrentPrincipal() principal: Principal,
    @Param() { jid, name }: { jid: string; name: string | string[] },
    @Query() { follow }: JobOutputQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const path = { jid, name: Array.isArray(name) ? name.join('/') : name };
    await this.outputs.send({ principal, request: response.req, response }, path, follow);
  }
}
