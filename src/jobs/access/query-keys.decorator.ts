import { UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { queryValuesOf, type HttpRequest } from '#src/platform/index.js';

/** Declares the query keys of a route; any other key is refused with 400 (contract 2). */
export function QueryKeys(...keys: string[]): MethodDecorator {
  const guard: CanActivate = {
    canActivate(context: ExecutionContext): boolean {
      queryValuesOf(context.switchToHttp().getRequest<HttpRequest>()).allowOnly(keys);
      return true;
    },
  };
  return UseGuards(guard);
}
