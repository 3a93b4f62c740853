import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { ProblemFilter, type HttpRequest } from '#src/http/index.js';
import { MalformedGrantError } from './grants/grant.request.js';

/** Records in the audit trail what is refused before a grant type sees it. */
@Injectable()
@Catch(MalformedGrantError)
export class TokenAuditFilter implements ExceptionFilter<MalformedGrantError> {
  constructor(
    private readonly audit: Audit,
    private readonly problems: ProblemFilter,
  ) {}

  catch(refusal: MalformedGrantError, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<HttpRequest>();
    this.audit.refused('token.issued', { grantType: refusal.grantType }, request, refusal);
    this.problems.catch(refusal, host);
  }
}
