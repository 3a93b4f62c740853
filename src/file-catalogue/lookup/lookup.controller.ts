import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpResponse } from '#src/platform/index.js';
import { AnswerSender } from '../answer/answer-writer.js';
import { LookupRequest } from './lookup.request.js';
import { LookupService } from './lookup.service.js';

const LINES_TYPE = 'application/x-ndjson';

/** Many files in one request. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class LookupController {
  constructor(
    private readonly lookup: LookupService,
    private readonly answers: AnswerSender,
  ) {}

  @Post('lookup')
  @HttpCode(200)
  @Access('bearer', 'catalogue:read')
  @ApiOperation({ summary: 'Attributes of many files, a line each, in the order of their paths' })
  @ApiProduces(LINES_TYPE)
  @ApiOkResponse({
    description:
      'A line `{"path","attributes"}` per path, or `{"path","error":{"status","code","detail"}}` with what its single read answers',
    schema: { type: 'string' },
  })
  async lookUpFiles(
    @CurrentPrincipal() principal: Principal,
    @Body() { paths }: LookupRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.answers.stream(response, `${LINES_TYPE}; charset=utf-8`, (writer) =>
      this.lookup.writeLines(principal, paths, writer),
    );
  }
}
