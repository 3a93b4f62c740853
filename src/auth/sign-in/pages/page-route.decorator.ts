import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiResponse, ApiUnauthorizedResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { catchError, of, type Observable } from 'rxjs';
import { OAuthProblem, Problem } from '#src/kernel/index.js';
import type { HttpResponse } from '#src/http/index.js';
import { Access } from '../../access/access.decorator.js';
import { messagePage } from './message.page.js';
import { PageError } from './page-error.js';
import { sendPage } from './page.js';

/** What a route of pages answers when all is well. */
interface PageAnswers {
  /** 200: this page. */
  page?: string;
  /** A redirect: 303 after a form, which is read with GET, else 302. */
  leadsTo?: string;
  /** It is sent a form. */
  isForm?: boolean;
}

const HTML = { 'text/html': { schema: { type: 'string' } } };
const HTML_OR_ERROR = {
  ...HTML,
  'application/json': { schema: { $ref: '#/components/schemas/OAuthError' } },
};

/** A route of pages for people: open to everybody, faults are told on a page. */
export function PageRoute({ page, leadsTo, isForm = false }: PageAnswers): MethodDecorator {
  const answers: [status: number, description: string | undefined, content?: object][] = [
    [200, page, HTML],
    [isForm ? 303 : 302, leadsTo],
    // a path that cannot be decoded never reaches the page
    [400, 'A page that says what is wrong', HTML_OR_ERROR],
    [403, isForm ? 'A page: the form is not one of this session' : undefined, HTML],
    [413, isForm ? 'A page: the form is too large' : undefined, HTML],
    [415, isForm ? 'A page: this is no form' : undefined, HTML],
    [429, 'A page: too many requests; see Retry-After', HTML],
    [503, 'A page: temporarily unavailable; see Retry-After', HTML_OR_ERROR],
  ];
  const described = answers.flatMap(([status, description, content]) =>
    description === undefined
      ? []
      : [ApiResponse({ status, description, ...(content && { content }) } as ApiResponseOptions)],
  );
  return applyDecorators(Access('open'), ...described, UseInterceptors(ErrorPageInterceptor));
}

/** The page that asks people to sign in may be the answer of the route. */
export function MayAskToSignIn(): MethodDecorator {
  const description = 'The page for signing in: the certificate is not accepted';
  return ApiUnauthorizedResponse({ description, content: HTML });
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
