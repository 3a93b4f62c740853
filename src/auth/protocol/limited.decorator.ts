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
import type { Observable } from 'rxjs';
import type { HttpRequest } from '#src/platform/index.js';
import { RateLimits, type Limit } from './rate-limits.js';

const LIMIT = 'gridgate:limit';

/** Counts the requests of a route by their address, before anything of them is read. */
export function Limited(limit: Limit): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(LIMIT, limit), UseInterceptors(LimitInterceptor));
}

/** Does what `@Limited` says. */
@Injectable()
class LimitInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  /** Throws 429. */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const places = [context.getHandler(), context.getClass()];
    const limit = this.reflector.getAllAndOverride<Limit>(LIMIT, places);
    await this.limits.count(limit, context.switchToHttp().getRequest<HttpRequest>());
    return next.handle();
  }
}
