import { Injectable } from '@nestjs/common';
import { IdProvidersService, LoginSessionsRepository } from '#src/id-provider/index.js';
import type { BrowserSessionEntity } from '../sessions/browser-session.entity.js';
import type { ProviderChoice } from './login.page.js';

/** Identity providers through which users may sign in. */
@Injectable()
export class LoginProviders {
  constructor(
    private readonly providers: IdProvidersService,
    private readonly logins: LoginSessionsRepository,
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
    binding: { session: BrowserSessionEntity; returnTo: string; prompt?: string | undefined },
  ): Promise<string | undefined> {
    const named = this.providers.find(name);
    if (!named?.login) return undefined;
    const held: { state?: unknown } = {};
    const begun = await named.provider.submitNewSession({ session: held, ...wishesOf(binding) });
    if (!begun.OK) return undefined;
    const { session, returnTo } = binding;
    await this.logins.bind(String(held.state), { browser: session.idHash, returnTo });
    return begun.Value;
  }
}

/**
 * What the page to come back to has been asked about the sign-in (OpenID Connect Core §3.1.2.1), for the provider: a fresh one
 * for a request that counts the time since it, and the name that is expected; `chosen` is what the person wants.
 */
function wishesOf({
  returnTo,
  prompt: chosen,
}: {
  returnTo: string;
  prompt?: string | undefined;
}): {
  prompt?: string;
  login_hint?: string;
} {
  const asked = new URLSearchParams(returnTo.split('?')[1]);
  const prompts = asked.get('prompt')?.split(' ') ?? [];
  const isFresh = prompts.includes('login') || asked.has('max_age');
  const demanded = prompts.includes('select_account') ? 'select_account' : isFresh && 'login';
  const prompt = chosen ?? demanded;
  const hint = asked.get('login_hint');
  return { ...(prompt && { prompt }), ...(hint && { login_hint: hint }) };
}
