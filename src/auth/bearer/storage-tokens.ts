import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { APPLICATION_PREFIX, RegistryService } from '#src/registry/index.js';
import { ANY_AUDIENCE } from '../protocol/audience.js';
import { scopePathOf, scopePathText } from '../protocol/scope-path.js';
import { AccessTokens } from './access-token.js';
import type { Principal } from './principal.js';

/** Bytes of the scopes of one token: with the other claims it stays below the 4 KiB that storage services take in a header. */
const MOST_SCOPE_BYTES = 1_500;

/** What somebody reads at a storage. */
export interface StorageWishes {
  /** What the storage calls itself. */
  audience: string;
  /** Files or directories with all that is in them, as the catalogue calls them. */
  paths: readonly string[];
  /** So long do the tokens live at most; an hour whatever is said. */
  seconds: number;
}

/** A token and the paths that it opens. */
export interface StorageToken {
  paths: readonly string[];
  token: string;
  expires: Date;
}

/**
 * The path, or the nearest directory above it, whose names are the same in scopes: xrootd 5.5.3 compares scopes without taking the
 * escapes of the WLCG profile for what they mean.
 */
export function plainInScopes(path: string): string {
  let plain = path;
  while (scopePathText(scopePathOf(plain, 'file')) !== plain) {
    plain = plain.slice(0, Math.max(1, plain.lastIndexOf('/')));
  }
  return plain;
}

/** Tokens for storage services, each of which opens some paths there and nothing here. Who asks has looked at the rights. */
@Injectable()
export class StorageTokens {
  constructor(
    private readonly tokens: AccessTokens,
    private readonly registry: RegistryService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Tokens that let their bearer read these paths: as many paths in each as it has room for, in their order. They are revoked with the
   * token of the request. Throws Problem 409 `catalogue.no-address` for an audience by which a token would open this service, too.
   */
  async toRead(principal: Principal, wishes: StorageWishes): Promise<StorageToken[]> {
    const { audience, paths, seconds } = wishes;
    if (audience === ANY_AUDIENCE || this.tokens.isForService({ aud: audience })) {
      const text = `The storage has the audience ${audience}, which is not its own alone`;
      throw new Problem('catalogue.no-address', text);
    }
    const notAfter = new Date(this.clock.now() + seconds * 1000);
    const holder = await this.holderOf(principal);
    const given: StorageToken[] = [];
    for (const group of packed(paths)) {
      const scopes = group.map(scopeOf);
      const input = { ...holder, scopes, audiences: [audience], notAfter };
      const { token, claims } = await this.tokens.mint(input);
      given.push({ paths: group, token, expires: new Date(claims.exp * 1000) });
    }
    return given;
  }

  private async holderOf({ user: name, group, setup, clientId, claims }: Principal) {
    const sub = name.startsWith(APPLICATION_PREFIX)
      ? name.slice(APPLICATION_PREFIX.length)
      : (await this.registry.current()).userByName(name)?.sub;
    const user = { name, ...(sub !== undefined && { sub }) };
    return { user, group, setup, clientId, ...(claims && { parentId: claims.jti }) };
  }
}

function scopeOf(path: string): string {
  return `storage.read:${scopePathText(scopePathOf(path, 'file'))}`;
}

/** The paths in groups whose scopes have room in one token. */
function packed(paths: readonly string[]): string[][] {
  const groups: string[][] = [];
  let bytes = Infinity;
  for (const path of paths) {
    const more = scopeOf(path).length + 1;
    if (bytes + more > MOST_SCOPE_BYTES) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(path);
    bytes += more;
  }
  return groups;
}
