import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { AnswerSender } from '../answer/answer-writer.js';
import { LINES_TYPE } from './lookup-paths.js';
import { LookupRequest } from './lookup.request.js';
import { LookupService } from './lookup.service.js';

const LINES = {
  type: 'string',
  description:
    'A path a line, as JSON text or as `path` of an object, whose other members do not count',
  example: '"/vo/a/f1"\n{"path":"/vo/a/f2"}\n',
};

/** Many files in one request. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class LookupController {
  constructor(
    private readonly lookup: LookupService,
    private readonly answers: AnswerSender,
  ) {}

  /**
   * Attributes of many files, a line each, in the order of their paths.
   *
   * @remarks A path that cannot be read has its error in its own line; the answer is 200 all the same.
   */
  @Post('lookup')
  @HttpCode(200)
  @Access('bearer', 'catalogue:read')
  @ApiProduces(LINES_TYPE)
  @ApiExtraModels(LookupRequest)
  @ApiOperation({
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: { $ref: getSchemaPath(LookupRequest) } },
        [LINES_TYPE]: { schema: LINES },
      },
    },
  })
  @ApiOkResponse({
    description:
      'A line `{"path","attributes"}` per path, or `{"path","error":{"status","code","detail"}}` with what its single read answers',
    schema: { type: 'string' },
  })
  async lookUpFiles(
    @CurrentPrincipal() principal: Principal,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.answers.stream(response, `${LINES_TYPE}; charset=utf-8`, (writer) =>
      this.lookup.answer(principal, request, writer),
    );
  }
}
