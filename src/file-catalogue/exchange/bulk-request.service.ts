import { Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import {
  contentTypeOf,
  unsupportedMediaType,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import { AnswerSender, type AnswerWriter } from '../answer/answer-writer.js';
import { BulkService, noLines } from './bulk.service.js';
import { arrivingAhead } from './read-ahead.js';

/** NDJSON, in requests and answers. */
export const LINES_TYPE = 'application/x-ndjson';
const ACCEPTED = [LINES_TYPE, 'application/jsonl', 'application/octet-stream', ''];

/** Bulk requests of clients: lines are applied as they arrive, and the answer is sent when that is done. */
@Injectable()
export class BulkRequestService {
  constructor(
    private readonly bulk: BulkService,
    private readonly policy: CataloguePolicy,
    private readonly audit: Audit,
    private readonly answers: AnswerSender,
  ) {}

  /**
   * Applies the body of the request and answers it. 415. When the client goes, nothing is begun any more; what has been
   * applied stays, as after a request that was cut.
   */
  async apply(principal: Principal, request: HttpRequest, response: HttpResponse): Promise<void> {
    if (!ACCEPTED.includes(contentTypeOf(request))) throw unsupportedMediaType(request, LINES_TYPE);
    const actor = await this.policy.writerOf(principal);
    const write = (writer: AnswerWriter): Promise<void> => this.write(actor, request, writer);
    // A client that reads only after it has sent everything must not block itself.
    await this.answers.spool(response, `${LINES_TYPE}; charset=utf-8`, write, { whole: true });
  }

  private async write(actor: Actor, request: HttpRequest, writer: AnswerWriter): Promise<void> {
    const done = { ...noLines(), deleted: 0 };
    let interrupted = true;
    try {
      const summary = await this.bulk.applyLines(actor, arrivingAhead(request), {
        failed: async (line) => {
          if (writer.push(`${stringifyJson(line)}\n`)) await writer.flush();
        },
        deleted: () => (done.deleted += 1),
        progress: (summary) => Object.assign(done, summary),
        signal: writer.clientSignal(),
      });
      interrupted = false;
      writer.push(`${stringifyJson(summary)}\n`);
    } finally {
      if (!interrupted) this.audit.done('catalogue.bulk', done, { request });
      else if (done.created + done.updated > 0) {
        this.audit.done('catalogue.bulk', { ...done, interrupted }, { request });
      }
    }
  }
}
