import {
  createParamDecorator,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { catchError, of, type Observable } from 'rxjs';
import {
  queryValuesOf,
  readForm,
  readValues,
  setQueryValues,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { sendRedirect } from '../sign-in/pages/page.js';
import { AuthorizationError } from './authorization-error.js';
import type { ProvedRequest } from './authorization-request.js';
import { AuthorizationTarget } from './authorize.request.js';
import { PushedRequestsService } from './pushed-requests.service.js';
import { AuthorizeService } from './authorize.service.js';

/** An authorization request with what is known of it before the rest is read. */
export interface AuthorizationCall {
  proved: ProvedRequest;
  request: HttpRequest;
}

/** A form that becomes an address is no longer than an address may be. */
const SERIALIZED_BYTES = 8_192;

const PROVED = new WeakMap<HttpRequest, ProvedRequest>();

/** Handler parameter: AuthorizationCall; on routes with AuthorizationInterceptor only. */
export const Authorization = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<HttpRequest>();
  return { request, proved: PROVED.get(request) };
});

/**
 * Finds out who asks and where the answer goes before anything else of the request is read; from then on the application
 * is told by a redirect what is wrong. A request in a form (OpenID Connect Core §3.1.2.1) is sent on to the address that asks
 * the same, so that it can be opened again after the sign-in.
 */
@Injectable()
export class AuthorizationInterceptor implements NestInterceptor {
  constructor(
    private readonly authorize: AuthorizeService,
    private readonly pushedRequests: PushedRequestsService,
  ) {}

  /** Throws UnprovedRequestError when there is nowhere to redirect to. */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<HttpRequest>();
    if (request.method === 'POST' && queryValuesOf(request).keys().length === 0) {
      sendRedirect(http.getResponse<HttpResponse>(), await addressOfForm(request));
      return of(undefined);
    }
    const pushed = await this.pushedRequests.open(queryValuesOf(request));
    if (pushed) setQueryValues(request, pushed.values);
    const target = readValues(AuthorizationTarget, queryValuesOf(request));
    const proved = { ...(await this.authorize.prove(target)), pushed: pushed?.key };
    PROVED.set(request, proved);
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (!(error instanceof AuthorizationError)) throw error;
        sendRedirect(http.getResponse<HttpResponse>(), this.authorize.errorRedirect(proved, error));
        return of(undefined);
      }),
    );
  }
}

/** Throws Problem 413, 415. */
async function addressOfForm(request: HttpRequest): Promise<string> {
  const form = await readForm(request, SERIALIZED_BYTES);
  const query = new URLSearchParams(
    form.keys().flatMap((key) => form.all(key).map((value): [string, string] => [key, value])),
  );
  const [path = ''] = request.originalUrl.split('?', 1);
  return `${path}?${query.toString()}`;
}
