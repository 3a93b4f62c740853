import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { BulkRequestService, LINES_TYPE } from './bulk-request.service.js';

/** Many changes in one request. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class BulkController {
  constructor(private readonly requests: BulkRequestService) {}

  /** Apply lines of NDJSON in order; each as a whole or not at all. */
  @Post('bulk')
  @HttpCode(200)
  @Access('bearer', 'catalogue:write')
  @ApiConsumes(LINES_TYPE)
  @ApiProduces(LINES_TYPE)
  @ApiBody({
    description:
      'One object a line, `kind` `field`, `directory` or `file`; `"op": "delete"` deletes. Safe to send again',
    schema: { type: 'string', example: '{"kind":"file","path":"/vo/a/f1","size":10}\n' },
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
