import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiProduces, ApiUnauthorizedResponse } from '@nestjs/swagger';
import { catchError, of, type Observable } from 'rxjs';
import { OAuthProblem, Problem } from '#src/kernel/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { Access } from '../../access/access.decorator.js';
import { messagePage } from './message.page.js';
import { PageError } from './page-error.js';
import { sendPage } from './page.js';

/** A route of pages for people: open to everybody, faults are told on a page. */
export function PageRoute(): MethodDecorator {
  return applyDecorators(
    Access('open'),
    ApiProduces('text/html'),
    UseInterceptors(ErrorPageInterceptor),
  );
}

/** The page that asks people to sign in may be the answer of the route. */
export function MayAskToSignIn(): MethodDecorator {
  return ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  });
}

/** What somebody did wrong is told on a page, everything else like everywhere. */
@Injectable()
class ErrorPageInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<HttpResponse>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        sendErrorPage(error, response);
        return of(undefined);
      }),
    );
  }
}

function sendErrorPage(error: unknown, response: HttpResponse): void {
  if (error instanceof PageError) {
    sendPage(response, messagePage(error.title, error.text, error.status));
    return;
  }
  if (!(error instanceof Problem) || error.status >= 500 || response.headersSent) throw error;
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(error.retryAfterSeconds));
  }
  const title =
    error instanceof OAuthProblem && error.status === 403 ? 'Not allowed' : 'This does not work';
  sendPage(response, messagePage(title, `${error.detail}.`, error.status));
}
