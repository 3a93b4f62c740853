import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { RegistryService, type RegistrySnapshot } from '#src/registry/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { applicationPrincipal, isKnownClient, principalFrom, type Principal } from './principal.js';
import {
  AccessTokens,
  isOfApplication,
  lineageOf,
  type AccessTokenClaims,
} from './access-token.js';
import { SIGNING_KEYS_CHANNEL } from '../keys/signing-keys.repository.js';
import { REVOCATIONS_CHANNEL, RevocationsRepository } from '../stores/revocations.repository.js';
import { TokenHolders, type PresentedToken } from '../possession/token-holders.js';
import { tokenMissing } from '../protocol/challenges.js';
import { ExternalTokens } from './external-tokens.js';

const MAX_ENTRIES = 20_000;

interface Entry {
  readonly claims: AccessTokenClaims;
  readonly ids: readonly string[];
  readonly isForService: boolean;
  principal?: { registry: RegistrySnapshot; value: Principal | undefined };
}

/**
 * Which tokens are good now. A signature costs about 80 µs to check, so verified tokens are remembered by their hash
 * until they expire; a revocation, other keys and a change of the registry take effect at once, and while the change feed is down
 * each request has its token verified and the database asked.
 */
@Injectable()
export class VerifiedTokens implements OnModuleDestroy {
  private readonly entries = new Map<string, Entry>();
  private readonly hashesById = new Map<string, Set<string>>();
  private changesSeen = 0;
  private readonly stopListening: (() => void)[];

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly tokens: AccessTokens,
    private readonly revocations: RevocationsRepository,
    private readonly registry: RegistryService,
    private readonly feed: ChangeFeed,
  ) {
    this.stopListening = [
      feed.listen(REVOCATIONS_CHANNEL, (id) => this.forget(id)),
      // A key that is gone has signed nothing that is good.
      feed.listen(SIGNING_KEYS_CHANNEL, () => this.forget(undefined)),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stopListening) stop();
  }

  /** Claims of a token that is ours, alive and not revoked; undefined for any other. */
  async claims(token: string): Promise<AccessTokenClaims | undefined> {
    return (await this.entryOf(token))?.claims;
  }

  /**
   * The principal of a live token for this service as the registry sees it now; undefined when the token is no good or
   * its bearer has lost the group, the setup or the application.
   */
  async principal(token: string): Promise<Principal | undefined> {
    const entry = await this.entryOf(token);
    return entry?.isForService ? this.principalOf(entry) : undefined;
  }

  /** What `principal` would answer, where that is known without a question; undefined otherwise, too. */
  known(token: string): Principal | undefined {
    const entry = this.feed.live ? this.entries.get(sha256(token)) : undefined;
    const registry = this.registry.known;
    if (!entry || !registry || entry.claims.exp * 1000 <= this.clock.now()) return undefined;
    return entry.isForService ? seenBy(entry, registry) : undefined;
  }

  /** The principal of a live token, also of one for other services. */
  async holder(token: string): Promise<Principal | undefined> {
    const entry = await this.entryOf(token);
    return entry && this.principalOf(entry);
  }

  private async principalOf(entry: Entry): Promise<Principal | undefined> {
    return seenBy(entry, await this.registry.current());
  }

  private async entryOf(token: string): Promise<Entry | undefined> {
    const hash = sha256(token);
    const known = this.entries.get(hash);
    if (known && known.claims.exp * 1000 <= this.clock.now()) {
      this.remove(hash, known);
      return undefined;
    }
    if (known && this.feed.live) return known;
    const seen = this.changesSeen;
    const entry = await this.verify(token);
    if (!entry) return undefined;
    if (await this.revocations.isAnyRevoked(entry.ids)) return undefined;
    // A key or a token that went meanwhile has been announced; then the next request asks again.
    if (seen === this.changesSeen && this.feed.live) this.remember(hash, entry);
    return entry;
  }

  private async verify(token: string): Promise<Entry | undefined> {
    const claims = await this.tokens.verify(token);
    if (!claims) return undefined;
    const isForService = this.tokens.isForService(claims);
    return { claims, ids: lineageOf(claims.jti), isForService };
  }

  private remember(hash: string, entry: Entry): void {
    const [oldest] = this.entries.size >= MAX_ENTRIES ? this.entries : [];
    if (oldest) this.remove(...oldest);
    this.entries.set(hash, entry);
    for (const id of entry.ids) {
      const hashes = this.hashesById.get(id);
      if (hashes) hashes.add(hash);
      else this.hashesById.set(id, new Set([hash]));
    }
  }

  private remove(hash: string, entry: Entry): void {
    this.entries.delete(hash);
    for (const id of entry.ids) {
      const hashes = this.hashesById.get(id);
      hashes?.delete(hash);
      if (hashes?.size === 0) this.hashesById.delete(id);
    }
  }

  /** Forgets what is known of a token or consent (undefined: of all), so that the database is asked again. */
  forget(id: string | undefined): void {
    this.changesSeen += 1;
    if (id === undefined) {
      this.entries.clear();
      this.hashesById.clear();
      return;
    }
    for (const hash of [...(this.hashesById.get(id) ?? [])]) {
      const entry = this.entries.get(hash);
      if (entry) this.remove(hash, entry);
    }
  }
}

function seenBy(entry: Entry, registry: RegistrySnapshot): Principal | undefined {
  if (entry.principal?.registry !== registry) {
    const { claims } = entry;
    const holder = holderOf(claims, registry);
    const { cnf: confirmation } = claims;
    const value = holder && { ...holder, claims, ...(confirmation && { confirmation }) };
    entry.principal = { registry, value };
  }
  return entry.principal.value;
}

/** The claims that say for whom a token is. */
export type HolderClaims = Pick<
  AccessTokenClaims,
  'sub' | 'preferred_username' | 'wlcg.ver' | 'client_id' | 'group' | 'setup' | 'scope' | 'act'
> & { readonly iat?: number };

/** Whom the claims stand for now. Only an older version's tokens call the user by name. */
export function holderOf(claims: HolderClaims, registry: RegistrySnapshot): Principal | undefined {
  const { sub, group, setup, client_id: clientId, scope, act, iat: givenAt } = claims;
  // Where one of the applications on the way is gone, the tokens that came through it are dead.
  for (let actor = act; actor; actor = actor.act) {
    if (!isKnownClient(actor.sub, registry, givenAt)) return undefined;
  }
  const grantee = { group, setup, clientId, scopes: scope.split(' '), givenAt };
  const isByName = claims['wlcg.ver'] === undefined;
  const user = isByName ? sub : registry.userBySub(sub)?.name;
  if (isOfApplication(claims)) return applicationPrincipal({ ...grantee, user: sub }, registry);
  return user === undefined ? undefined : principalFrom({ ...grantee, user }, registry);
}

const NOT_IN_QUERY =
  'Tokens of this application are not taken from the query string; send the header';

/** Whose token a request carries: one of ours, or one of an identity provider whose tokens are accepted. */
@Injectable()
export class BearerTokens {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly external: ExternalTokens,
    private readonly holders: TokenHolders,
  ) {}

  /**
   * The principal of a token in the header of a request when it is known and bound to nothing: nobody has to be asked, and no
   * proof looked at. Undefined says nothing of the token.
   */
  known(token: string): Principal | undefined {
    const own = this.verified.known(token);
    return own?.confirmation === undefined ? own : undefined;
  }

  /**
   * The principal of a live token; undefined for any other. Throws 401 when the token is bound and the caller does not prove
   * to be its holder, or when it stands where its application may not put it, 403 for a group that is not the user's.
   */
  async principal(presented: PresentedToken): Promise<Principal | undefined> {
    const { token, request, place } = presented;
    const own = await this.verified.principal(token);
    if (own) {
      if (place === 'query' && own.isHeaderOnly) throw tokenMissing(NOT_IN_QUERY);
      await this.holders.check(own.confirmation, presented);
      return own;
    }
    return this.external.principal(presented, {
      group: header(request, 'x-grid-group'),
      setup: header(request, 'x-grid-setup'),
    });
  }
}

function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
