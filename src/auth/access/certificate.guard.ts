import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Admission, callerNetworkOf, labelRequest, type HttpRequest } from '#src/http/index.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { callerOf, setCertificateUser } from './access.decorator.js';
import { CertificateUsers } from './certificate-users.js';

/** Lets in who comes with the client certificate of a known user, and counts the user. */
@Injectable()
export class CertificateGuard implements CanActivate {
  constructor(
    private readonly certificates: CertificateUsers,
    private readonly admission: Admission,
  ) {}

  /** Throws 401 `invalid_client` without a good certificate of a known user, Problem 429 or 503. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.admission.admit(`unknown ${callerNetworkOf(request)}`, request);
    const { user } = await this.certificates.certified(request);
    labelRequest(request, { user: user.name });
    setCertificateUser(request, user);
    await this.admission.admit(callerOf(user.name, CERTIFICATE_CLIENT), request);
    return true;
  }
}
