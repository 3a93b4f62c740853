import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { tap, type Observable } from 'rxjs';
import type { HttpRequest } from '#src/http/index.js';
import type { AuditEvent } from './audit-events.js';
import { Audit, type AuditDetails } from './audit.js';

const RULE = 'gridgate:audit';

/** Details of an event from the request and, when it was done, the answer; undefined where there was no such event. */
export type DetailsOf<T> = (
  request: HttpRequest,
  answer: T | undefined,
) => AuditDetails | undefined;

interface Rule {
  event: AuditEvent;
  detailsOf: DetailsOf<unknown>;
  /** The service that does it records that. */
  isRefusalsOnly: boolean;
}

/** Records in the audit trail what a route has done or refused. For routes that return their answer. */
export function Audited<T>(
  event: AuditEvent,
  detailsOf: DetailsOf<T>,
  { isRefusalsOnly = false }: { isRefusalsOnly?: boolean } = {},
): MethodDecorator {
  const rule: Rule = { event, detailsOf: detailsOf as DetailsOf<unknown>, isRefusalsOnly };
  return applyDecorators(SetMetadata(RULE, rule), UseInterceptors(AuditInterceptor));
}

/** Does what `@Audited` says. */
@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { event, detailsOf, isRefusalsOnly } = this.reflector.get<Rule>(
      RULE,
      context.getHandler(),
    );
    const request = context.switchToHttp().getRequest<HttpRequest>();
    return next.handle().pipe(
      tap({
        next: (answer) => {
          if (isRefusalsOnly) return;
          const details = detailsOf(request, answer);
          if (details) this.audit.done(event, details, { request });
        },
        error: (error: unknown) => {
          const details = detailsOf(request, undefined);
          if (details) this.audit.refused(event, details, request, error);
        },
      }),
    );
  }
}
