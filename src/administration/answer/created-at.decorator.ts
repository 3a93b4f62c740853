import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { tap, type Observable } from 'rxjs';
import type { HttpResponse } from '#src/http/index.js';

/** Answers 201 with `Location`: the collection's path and the name of what was added. */
export function CreatedAt(collection: string, type: Type): MethodDecorator {
  @Injectable()
  class LocationInterceptor implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      const response = context.switchToHttp().getResponse<HttpResponse>();
      return next.handle().pipe(
        tap(({ name }: { name: string }) => {
          response.setHeader('Location', `${collection}/${encodeURIComponent(name)}`);
        }),
      );
    }
  }
  return applyDecorators(
    UseInterceptors(LocationInterceptor as Type<NestInterceptor>),
    ApiCreatedResponse({
      type,
      headers: { Location: { description: 'Its path', schema: { type: 'string' } } },
    }),
  );
}
