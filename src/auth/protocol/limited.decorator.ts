import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { HttpRequest } from '#src/http/index.js';
import { RateLimits, type Limit } from './rate-limits.js';

const LIMIT = 'gridgate:limit';

/** Counts the requests of a route by their address, before anything of them is read. */
export function Limited(limit: Limit): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(LIMIT, limit), UseGuards(LimitGuard));
}

/** Does what `@Limited` says. */
@Injectable()
class LimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  /** Throws 429. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    const limit = this.reflector.getAllAndOverride<Limit>(LIMIT, places);
    await this.limits.count(limit, context.switchToHttp().getRequest<HttpRequest>());
    return true;
  }
}
