import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '#src/kernel/index.js';
import {
  ACCESS_RULE,
  Callers,
  clientAddressOf,
  labelRequest,
  type HttpRequest,
} from '#src/platform/index.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { setCertificateUser, setPrincipal, type AccessRule } from './access.decorator.js';
import { BearerStrategy, bearerProblem } from './bearer.strategy.js';
import { CertificateStrategy } from './certificate.strategy.js';

/**
 * The one global guard. Each route says by `@Access` who may call it; a route that says nothing is refused, and a
 * rule with an unknown kind as well.
 *
 * Whoever calls is then counted (contract 12): a user with an application, or, where nobody has to be known, an
 * address. Finding out who it is counts for the address too, but apart from its requests: whoever holds all places of
 * an address keeps nobody else behind it from showing a token.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly bearer: BearerStrategy,
    private readonly certificate: CertificateStrategy,
    private readonly callers: Callers,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, places);
    const request = context.switchToHttp().getRequest<HttpRequest>();
    if (rule?.kind === 'probe') return true;
    if (rule?.kind === 'open')
      await this.callers.admit(`address ${clientAddressOf(request)}`, request);
    else if (rule?.kind === 'bearer') await this.admitBearer(request, rule);
    else if (rule?.kind === 'certificate') await this.admitCertificate(request);
    else throw new Problem('auth.forbidden', 'Nobody may call this');
    return true;
  }

  private async admitBearer(request: HttpRequest, rule: AccessRule): Promise<void> {
    const principal = await this.identify(request, () => this.bearer.authenticate(request));
    const { user, group, setup, clientId } = principal;
    labelRequest(request, { user, group, setup, client: clientId });
    if (rule.scope === undefined || !principal.scopes.has(rule.scope)) {
      const needed = rule.scope ?? '';
      throw bearerProblem('insufficient_scope', `This needs the scope ${needed}`, needed);
    }
    setPrincipal(request, principal);
    await this.callers.admit(callerOf(user, clientId), request);
  }

  private async admitCertificate(request: HttpRequest): Promise<void> {
    const user = await this.identify(request, () => this.certificate.authenticate(request));
    labelRequest(request, { user: user.name });
    setCertificateUser(request, user);
    await this.callers.admit(callerOf(user.name, CERTIFICATE_CLIENT), request);
  }

  private identify<T>(request: HttpRequest, authenticate: () => Promise<T>): Promise<T> {
    return this.callers.during(`unknown ${clientAddressOf(request)}`, request, authenticate);
  }
}

function callerOf(user: string, client: string): string {
  return `user ${user}\0${client}`;
}
