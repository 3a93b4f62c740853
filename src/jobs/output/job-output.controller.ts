import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Download, type HttpResponse } from '#src/http/index.js';
import { JobOutputQuery } from './job-output.query.js';
import { JobOutputService } from './job-output.service.js';
import { OutputFile, type JobFile } from '../state/job.openapi.js';

/** Single files of what a job writes, while it runs and afterwards. */
@ApiTags('jobs')
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
  @Download('application/octet-stream', 'text/event-stream')
  async readJobOutput(
    @CurrentPrincipal() principal: Principal,
    @OutputFile() file: JobFile,
    @Query() { follow }: JobOutputQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const caller = { principal, request: response.req, response };
    await this.outputs.send(caller, file, follow);
  }
}
