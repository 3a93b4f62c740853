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
  Audit,
  contentTypeOf,
  Query,
  QueryValues,
  unsupportedMediaType,
  type HttpRequest,
  type HttpResponse,
} from '#src/platform/index.js';
import { streamAnswer, type AnswerWriter } from '../answer-writer.js';
import { CataloguePolicy } from '../catalogue.policy.js';
import { BulkService } from './bulk.service.js';
import { LineSpool } from './line-spool.js';

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
    const spool = new LineSpool();
    try {
      const actor = await this.policy.writerOf(principal);
      const summary = await this.bulk.applyLines(actor, request, {
        failed: (line) => spool.add(stringifyJson(line)),
      });
      this.audit.done('catalogue.bulk', { ...summary }, { request });
      await spool.add(stringifyJson(summary));
      await streamAnswer(response, `${LINES_TYPE}; charset=utf-8`, (writer) => send(spool, writer));
    } catch (error) {
      if (!request.destroyed || request.complete) throw error; // else the client went away
    } finally {
      await spool.close();
    }
  }
}

async function send(spool: LineSpool, writer: AnswerWriter): Promise<void> {
  for await (const piece of spool.read()) {
    if (writer.push(piece)) await writer.flush();
  }
}
