import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { BulkRequestService, LINES_TYPE } from './bulk-request.service.js';

const LINES = '{"kind":"directory","path":"/vo/a"}\n{"kind":"file","path":"/vo/a/f1","size":10}\n';

/** Many changes in one request. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class BulkController {
  constructor(private readonly requests: BulkRequestService) {}

  /**
   * Apply lines of NDJSON in order; each as a whole or not at all.
   *
   * @remarks A line that fails does not stop the others; its fault stands in the answer, which ends with a summary.
   */
  @Post('bulk')
  @HttpCode(200)
  @Access('bearer', 'catalogue:write')
  @ApiProduces(LINES_TYPE)
  @ApiOperation({
    requestBody: {
      required: false,
      description:
        'One object a line, `kind` `field`, `directory` or `file`; `"op": "delete"` deletes. Safe to send again',
      content: {
        [LINES_TYPE]: { schema: { type: 'string', example: LINES } },
        'application/octet-stream': { schema: { type: 'string', format: 'binary' } }, // the same, for clients that know no lines
      },
    },
  })
  @ApiOkResponse({
    description:
      'A line `{"line","path","status","code","detail"}` per failed line, last `{"lines","created","updated","unchanged","failed"}`',
    schema: { type: 'string' },
  })
  async applyBulk(
    @CurrentPrincipal() principal: Principal,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.requests.apply(principal, request, response);
  }
}
