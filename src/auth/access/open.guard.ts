import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { callerNetworkOf, Callers, needsTurn, type HttpRequest } from '#src/platform/index.js';

/** Lets everybody in, and counts the address. */
@Injectable()
export class OpenGuard implements CanActivate {
  constructor(private readonly callers: Callers) {}

  /** Throws Problem 429 or 503. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.callers.admit(`address ${callerNetworkOf(request)}`, request, needsTurn(context));
    return true;
  }
}
