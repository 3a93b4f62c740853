import { Injectable } from '@nestjs/common';
import { IdProvidersService, LoginSessionsRepository } from '#src/id-provider/index.js';
import { outOfTurn, type HttpRequest } from '#src/platform/index.js';
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
    request: HttpRequest,
    binding: { session: BrowserSessionEntity; returnTo: string },
  ): Promise<string | undefined> {
    const named = this.providers.find(name);
    if (!named?.login) return undefined;
    const held: { state?: unknown } = {};
    const begun = await outOfTurn(request, () =>
      named.provider.submitNewSession({ session: held }),
    );
    if (!begun.OK) return undefined;
    const { session, returnTo } = binding;
    await this.logins.bind(String(held.state), { browser: session.idHash, returnTo });
    return begun.Value;
  }
}
