import { Injectable } from '@nestjs/common';
import { IdProvidersService, LoginSessionsRepository } from '#src/id-provider/index.js';
import type { User } from '#src/registry/index.js';
import { RegistryService } from '#src/registry/index.js';
import type { HttpRequest } from '#src/platform/index.js';
import type { BrowserSession } from '../sessions/browser-session.js';
import { IdProviderStrategy, type LoginAttempt } from './id-provider.strategy.js';
import type { ProviderChoice } from './login.page.js';

/** How a login through an identity provider ended. */
export type LoginOutcome =
  | { kind: 'signed-in'; user: User; returnTo: string }
  | { kind: 'unknown-user'; issuer: string; sub: string }
  | { kind: 'failed'; reason: string };

/** Identity providers through which users may sign in. */
@Injectable()
export class LoginProviders {
  constructor(
    private readonly providers: IdProvidersService,
    private readonly logins: LoginSessionsRepository,
    private readonly registry: RegistryService,
  ) {}

  /** In the order of the configuration. */
  list(): readonly ProviderChoice[] {
    return this.providers
      .all()
      .filter(({ login }) => login)
      .map(({ name, title }) => ({ name, title }));
  }

  /** The address of the provider's sign-in page; undefined when there is no such provider or it is away. */
  async begin(
    name: string,
    request: HttpRequest,
    binding: { session: BrowserSession; returnTo: string },
  ): Promise<string | undefined> {
    const outcome = await this.strategyOf(name)?.run(request, 'begin');
    if (outcome?.kind !== 'redirect') return undefined;
    const { state } = outcome;
    const { session, returnTo } = binding;
    await this.logins.bind(state, { browser: session.idHash, returnTo });
    return outcome.url;
  }

  /** Completes the login that a request brings back; it must have begun in this very browser. */
  async complete(
    name: string,
    request: HttpRequest,
    session: BrowserSession | undefined,
  ): Promise<LoginOutcome> {
    const strategy = this.strategyOf(name);
    if (!strategy) return { kind: 'failed', reason: 'there is no such identity provider' };
    const state = new URLSearchParams(request.originalUrl.split('?')[1] ?? '').get('state') ?? '';
    const binding = await this.logins.bindingOf(state);
    const isOwn = session !== undefined && binding?.browser === session.idHash;
    const outcome = await strategy.run(request, 'complete', isOwn ? state : undefined);
    return this.conclude(outcome, binding?.returnTo ?? '/oauth2/applications');
  }

  private async conclude(outcome: LoginAttempt, returnTo: string): Promise<LoginOutcome> {
    if (outcome.kind !== 'success') {
      const reason = outcome.kind === 'failure' ? outcome.reason : 'unexpected answer';
      return { kind: 'failed', reason };
    }
    const { issuer, sub } = outcome;
    const user = (await this.registry.current()).userBySubject(issuer, sub);
    return user ? { kind: 'signed-in', user, returnTo } : { kind: 'unknown-user', issuer, sub };
  }

  private strategyOf(name: string): IdProviderStrategy | undefined {
    const named = this.providers.find(name);
    return named?.login ? new IdProviderStrategy(named.provider) : undefined;
  }
}
