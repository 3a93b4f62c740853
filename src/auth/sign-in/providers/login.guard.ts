import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import OAuth2Strategy from 'passport-oauth2';
import { IdProvidersService } from '#src/id-provider/index.js';
import { Problem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import { RateLimits } from '../../protocol/rate-limits.js';
import {
  idProviderStrategy,
  LoginFailure,
  type KnownSubject,
  type ProviderSubject,
} from './id-provider.strategy.js';
import { LoginStates, type LoginView, type OwnLogin } from './login-states.js';
import { byStrategy } from '../../access/access.guard.js';

/** How a sign-in through an identity provider ended. */
export type LoginOutcome =
  | { kind: 'signed-in'; user: User; login: OwnLogin; authenticatedAt: Date | undefined }
  | { kind: 'unknown-user'; subject: ProviderSubject }
  | { kind: 'failed'; reason: string }
  | { kind: 'refused'; problem: Problem };

const OUTCOME = Symbol('outcome of the sign-in');
interface Concluded {
  [OUTCOME]?: LoginOutcome;
}

/** Handler parameter: how the sign-in ended; on routes with LoginGuard only. */
export const LoginResult = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const outcome = context.switchToHttp().getRequest<Concluded>()[OUTCOME];
  if (!outcome) throw new Error('the route has no LoginGuard');
  return outcome;
});

/**
 * Completes the sign-in that an answer of the provider in the path brings. Everybody is let through: a page says how it
 * ended.
 */
@Injectable()
export class LoginGuard implements CanActivate {
  private readonly guards: ReadonlyMap<string, CanActivate>;

  constructor(
    providers: IdProvidersService,
    states: LoginStates,
    registry: RegistryService,
    private readonly limits: RateLimits,
  ) {
    const named = providers.all().filter(({ login }) => login);
    this.guards = new Map(
      named.map((one) => [one.name, guardOf(idProviderStrategy(one, states, registry))]),
    );
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest & Concluded>();
    try {
      await this.limits.count('authorize', request);
      const guard = this.guards.get(String(request.params['provider']));
      if (guard) await guard.canActivate(context);
      else request[OUTCOME] = { kind: 'failed', reason: 'there is no such identity provider' };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      request[OUTCOME] = { kind: 'refused', problem: error };
    }
    return true;
  }
}

function guardOf(strategy: OAuth2Strategy): CanActivate {
  class ProviderGuard extends AuthGuard() {
    override getRequest(context: ExecutionContext): LoginView {
      const caller = context.switchToHttp().getRequest<HttpRequest>();
      const code = caller.originalUrl;
      const state = new URLSearchParams(code.split('?')[1]).get('state') ?? '';
      return { caller, query: { code, state } };
    }

    override getAuthenticateOptions(context: ExecutionContext): object {
      return { caller: context.switchToHttp().getRequest<HttpRequest>() };
    }

    override handleRequest<T>(
      error: unknown,
      user: KnownSubject | false,
      info: unknown,
      context: ExecutionContext,
    ): T {
      const outcome = outcomeOf(error, user, info);
      context.switchToHttp().getRequest<Concluded>()[OUTCOME] = outcome;
      return outcome as T;
    }
  }
  return new ProviderGuard(byStrategy(strategy));
}

/** What Passport says: a user with the login as `state`, a reason, or the subject whom nobody knows. */
function outcomeOf(error: unknown, known: KnownSubject | false, info: unknown): LoginOutcome {
  const cause: unknown =
    error instanceof OAuth2Strategy.InternalOAuthError ? error.oauthError : error;
  if (cause instanceof LoginFailure) return { kind: 'failed', reason: cause.message };
  if (cause) throw cause as Error;
  if (known) return { kind: 'signed-in', ...known, login: (info as { state: OwnLogin }).state };
  return typeof info === 'string'
    ? { kind: 'failed', reason: info }
    : { kind: 'unknown-user', subject: info as ProviderSubject };
}
