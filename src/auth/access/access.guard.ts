import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '#src/kernel/index.js';
import { accessRuleOf, type AccessKind } from './access.decorator.js';
import { BearerGuard } from './bearer.guard.js';
import { CertificateGuard } from './certificate.guard.js';
import { OpenGuard } from './open.guard.js';

/**
 * The one global guard. Each route says by `@Access` who may call it, and the guard of that kind decides; a route that
 * says nothing is refused, and a rule with an unknown kind as well.
 *
 * Whoever calls is then counted (contract 12): a user with an application, or, where nobody has to be known, an
 * address. Finding out who it is counts for the address too, but apart from its requests: whoever holds all places of
 * an address keeps nobody else behind it from showing a token.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly guards: ReadonlyMap<AccessKind | undefined, CanActivate>;

  constructor(
    private readonly reflector: Reflector,
    bearer: BearerGuard,
    certificate: CertificateGuard,
    open: OpenGuard,
  ) {
    const probe = { canActivate: () => true };
    this.guards = new Map<AccessKind, CanActivate>([
      ['bearer', bearer],
      ['certificate', certificate],
      ['open', open],
      ['probe', probe],
    ]);
  }

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const guard = this.guards.get(accessRuleOf(this.reflector, context)?.kind);
    if (!guard) throw new Problem('auth.forbidden', 'Nobody may call this');
    return guard.canActivate(context);
  }
}
