import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Admission, callerNetworkOf, type HttpRequest } from '#src/http/index.js';

/** Lets everybody in, and counts the address. */
@Injectable()
export class OpenGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  /** Throws Problem 429. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.admission.admit(`address ${callerNetworkOf(request)}`, request);
    return true;
  }
}
