import { Inject, Injectable } from '@nestjs/common';
import { isJsonObject, Problem, runForAll, sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import {
  OAuth2Token,
  OAuthError,
  SingleFlight,
  type TokenFields,
} from '#src/oauth2-client/index.js';
import { CONFIG, openVault, type Config, type KeyVault } from '#src/config/index.js';
import { withKeyedLock, Database } from '#src/database/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { IdProvidersService } from './id-providers.service.js';
import { StoredTokensRepository } from './stored-tokens.repository.js';

/** Whose token it is: the provider's name, and a name of the caller's choice, such as the user's. */
export interface TokenKey {
  provider: string;
  owner: string;
}

/** How long a token that can be renewed is kept after it was put or renewed. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Tokens of identity providers, kept for their users in the database, sealed with the key-encryption key. A token near
 * its end is renewed by one caller of all instances; the others wait and get the same answer, so that a provider with
 * rotation never sees a refresh token twice. The same refresh token must not be put under two keys.
 */
@Injectable()
export class StoredTokens {
  private readonly renewals = new SingleFlight<TokenFields | undefined>();
  /** The last renewal of each provider. */
  private readonly lanes = new Map<string, Promise<unknown>>();

  constructor(
    private readonly database: Database,
    private readonly repository: StoredTokensRepository,
    private readonly providers: IdProvidersService,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Keeps the token, in the place of one that is there. */
  async put(key: TokenKey, token: TokenFields): Promise<void> {
    await this.repository.put(await this.rowOf(idOf(key), token));
  }

  /**
   * The token, renewed when it ends within a minute. Undefined when there is none, or when the provider does not renew
   * it any more: then it is forgotten and the user has to sign in again. Throws Problem 503 while the provider is away.
   */
  async get(key: TokenKey): Promise<TokenFields | undefined> {
    const id = idOf(key);
    const found = await this.read(id);
    if (!found || !this.isDue(found.token)) return found?.token;
    return this.renewals.run(id, () => runForAll(() => this.inLane(key)));
  }

  /** Forgets the token; it is not revoked at the provider. */
  async remove(key: TokenKey): Promise<void> {
    await this.repository.remove(idOf(key));
  }

  /**
   * One after the other at each provider: a renewal takes a connection of the pool as long as it lasts, and a provider
   * that does not answer must keep only its own users waiting.
   */
  private inLane(key: TokenKey): Promise<TokenFields | undefined> {
    const { provider } = key;
    const before = this.lanes.get(provider) ?? Promise.resolve();
    const run = before.then(() =>
      withKeyedLock(this.database, `stored-token ${idOf(key)}`, () => this.renew(key)),
    );
    const lane = run
      .catch(() => undefined)
      .then(() => {
        if (this.lanes.get(provider) === lane) this.lanes.delete(provider);
      });
    this.lanes.set(provider, lane);
    return run;
  }

  /** Alone on all instances: reads again what another one may have renewed while we waited. */
  private async renew(key: TokenKey): Promise<TokenFields | undefined> {
    const id = idOf(key);
    const found = await this.read(id);
    if (!found || !this.isDue(found.token)) return found?.token;
    const { sealed: before, token } = found;
    const provider = this.providers.find(key.provider)?.provider;
    if (!provider || !token.refresh_token) {
      await this.repository.remove(id, before);
      return undefined;
    }
    try {
      const renewed = await provider.refreshToken(token.refresh_token);
      await this.repository.replace({ ...(await this.rowOf(id, renewed)), before });
      return renewed;
    } catch (cause) {
      if (!(cause instanceof OAuthError)) throw cause;
      const { message: reason, error } = cause;
      this.logger.warn({ provider: key.provider, reason }, 'a token is not renewed');
      if (error !== 'invalid_grant') {
        throw Problem.unavailable('The identity provider does not renew the token now');
      }
      await this.repository.remove(id, before);
      return undefined;
    }
  }

  private isDue(token: TokenFields): boolean {
    return new OAuth2Token(token, { clock: this.clock }).is_expired() === true;
  }

  private async read(id: string): Promise<{ sealed: string; token: TokenFields } | undefined> {
    const sealed = await this.repository.find(id);
    if (sealed === undefined) return undefined;
    const text = (await this.openVault()).open(id, sealed).toString('utf8');
    const token: unknown = JSON.parse(text);
    return isJsonObject(token) ? { sealed, token } : undefined;
  }

  private async rowOf(
    id: string,
    fields: TokenFields,
  ): Promise<{ id: string; sealed: string; expiresAt: Date }> {
    const token = new OAuth2Token(fields, { clock: this.clock });
    const sealed = (await this.openVault()).seal(id, Buffer.from(JSON.stringify(token)));
    const end = token.expires_at;
    const isKept = token.refresh_token !== undefined || end === undefined;
    return { id, sealed, expiresAt: new Date(isKept ? this.clock.now() + KEPT_MS : end * 1000) };
  }

  private openVault(): Promise<KeyVault> {
    return openVault(this.config, this.logger);
  }
}

function idOf({ provider, owner }: TokenKey): string {
  return sha256(JSON.stringify([provider, owner]));
}
