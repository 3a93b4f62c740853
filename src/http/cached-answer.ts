import { createHash } from 'node:crypto';
import {
  applyDecorators,
  Header,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { map, type Observable } from 'rxjs';
import { stringifyJson } from '#src/kernel/index.js';
import type { HttpResponse } from './messages.js';
import { JsonText } from './grid-express.adapter.js';

/**
 * A route whose answer is the same for everybody: caches keep it for so many seconds, and whoever asks again with its ETag gets
 * 304 without a body (RFC 9110 §13.1.2).
 */
export function Cached(seconds: number): MethodDecorator {
  return applyDecorators(
    Header('Cache-Control', `public, max-age=${seconds}`),
    UseInterceptors(TagInterceptor),
    ApiResponse({ status: 304, description: 'Unchanged: `If-None-Match` names its ETag' }),
  );
}

/** Gives the answer a tag, weak because its compressed form has the same one; who replies looks at it. */
class TagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<JsonText<unknown>> {
    const response = context.switchToHttp().getResponse<HttpResponse>();
    return next.handle().pipe(
      map((body: unknown) => {
        const text = stringifyJson(body);
        const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22);
        response.setHeader('ETag', `W/"${hash}"`);
        return new JsonText(text);
      }),
    );
  }
}
