import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiTags,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import {
  arriving,
  Audit,
  contentTypeOf,
  type HttpRequest,
  type HttpResponse,
  Query,
  QueryValues,
  unsupportedMediaType,
} from '#src/platform/index.js';
import { AnswerSender, type AnswerWriter } from '../answer/answer-writer.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { BulkService } from './bulk.service.js';

const LINES_TYPE = 'application/x-ndjson';
const ACCEPTED = [LINES_TYPE, 'application/jsonl', 'application/octet-stream', ''];

/** Many changes in one request. */
@ApiTags('file catalogue')
@Controller('filecatalogue')
export class BulkController {
  constructor(
    private readonly bulk: BulkService,
    private readonly policy: CataloguePolicy,
    private readonly audit: Audit,
    private readonly answers: AnswerSender,
  ) {}

  @Post('bulk')
  @HttpCode(200)
  @Access('bearer', 'catalogue:write')
  @ApiOperation({ summary: 'Apply lines of NDJSON in order; each as a whole or not at all' })
  @ApiConsumes(LINES_TYPE)
  @ApiProduces(LINES_TYPE)
  @ApiBody({
    description:
      'One object a line, `kind` `field`, `directory` or `file`; `"op": "delete"` deletes. Safe to send again',
    schema: { type: 'string', example: '{"kind":"file","path":"/vo/a/f1","size":10}\n' },
  })
  @ApiOkResponse({
    description:
      'A line `{"line","path","status","detail"}` per failed line, last `{"lines","created","updated","unchanged","failed"}`',
    schema: { type: 'string' },
  })
  async applyBulk(
    @CurrentPrincipal() principal: Principal,
    @Query() query: QueryValues,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    query.allowOnly([]);
    if (!ACCEPTED.includes(contentTypeOf(request))) throw unsupportedMediaType(request, LINES_TYPE);
    const actor = await this.policy.writerOf(principal);
    const write = async (writer: AnswerWriter): Promise<void> => {
      let deleted = 0;
      const summary = await this.bulk.applyLines(actor, arriving(request), {
        failed: async (line) => {
          if (writer.push(`${stringifyJson(line)}\n`)) await writer.flush();
        },
        deleted: () => (deleted += 1),
      });
      this.audit.done('catalogue.bulk', { ...summary, deleted }, { request });
      writer.push(`${stringifyJson(summary)}\n`);
    };
    try {
      // A client that reads only after it has sent everything must not block itself.
      await this.answers.spool(response, `${LINES_TYPE}; charset=utf-8`, write, { whole: true });
    } catch (error) {
      if (!request.destroyed || request.complete) throw error; // else the client went away
    }
  }
}
