import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { tap, type Observable } from 'rxjs';
import { Audit, type HttpRequest } from '#src/platform/index.js';
import { MalformedGrantError } from './grants/grant.request.js';

/** Records in the audit trail what is refused before a grant type sees it. */
@Injectable()
export class TokenAuditInterceptor implements NestInterceptor {
  constructor(private readonly audit: Audit) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const error = (refusal: unknown): void => {
      if (!(refusal instanceof MalformedGrantError)) return;
      const request = context.switchToHttp().getRequest<HttpRequest>();
      this.audit.refused('token.issued', { grantType: refusal.grantType }, request, refusal);
    };
    return next.handle().pipe(tap({ error }));
  }
}
