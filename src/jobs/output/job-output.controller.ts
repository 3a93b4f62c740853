import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { JobOutputQuery } from './job-output.query.js';
import { JobOutputService } from './job-output.service.js';

/** Single files of what a job writes, while it runs and afterwards. */
@Controller('jobs/:jid')
export class JobOutputController {
  constructor(private readonly outputs: JobOutputService) {}

  /**
   * A file of the output, also while the job runs.
   *
   * @throws {403} Not yours to read
   * @throws {404} Unknown, not visible, or there is no such file
   * @throws {409} The job has not begun, and is not followed
   */
  @Get('output/*name')
  @Access('bearer', 'jobs:read')
  @ApiOperation({
    description:
      'Files that the job gives back, and its standard output and error as `std.out` and `std.err` whatever their names. Byte ranges are honoured, but not with `follow`: then the answer goes on until the job has ended; with `Accept: text/event-stream` as events `output` (`{"text"}`, and `"base64"` with the bytes where they are no UTF-8, for which U+FFFD stands in the text), `restart` (`{"attempt"}`: the file begins anew) and `end` (`{"reason","status"}`), which `Last-Event-ID` resumes (`<attempt>.<bytes>`).',
  })
  @ApiProduces('application/octet-stream', 'text/event-stream')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  async readJobOutput(
    @CurrentPrincipal() principal: Principal,
    @Param() { jid, name }: { jid: string; name: string | string[] },
    @Query() { follow }: JobOutputQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const path = { jid, name: Array.isArray(name) ? name.join('/') : name };
    await this.outputs.send({ principal, request: response.req, response }, path, follow);
  }
}
