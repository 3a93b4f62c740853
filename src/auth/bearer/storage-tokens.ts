import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { APPLICATION_PREFIX, RegistryService, STORAGE_CLIENT } from '#src/registry/index.js';
import { ANY_AUDIENCE } from '../protocol/audience.js';
import { scopePathOf, scopePathText } from '../protocol/scope-path.js';
import { AccessTokens, applicationItself } from './access-token.js';
import type { Principal } from './principal.js';

/** What storage services take in a header. */
const MOST_TOKEN_BYTES = 4_096;
/** Bytes of the scopes of one token, with room for the other claims. */
const MOST_SCOPE_BYTES = 1_500;
/** Of a token of the service itself, which is used at once. */
const SERVICE_SECONDS = 300;

/** What somebody does at a storage. */
export interface StorageWishes {
  right: 'read' | 'create';
  /** What the storage calls itself. */
  audience: string;
  /** Files or directories with all that is in them, as the catalogue calls them. */
  paths: readonly string[];
  /** When they end at the latest. */
  notAfter: Date;
}

/** What can be done with a path at a storage. */
type StorageRight = 'read' | 'create' | 'modify';

/** What the service itself does at a storage. */
export interface ServiceWishes {
  audience: string;
  rights: readonly StorageRight[];
  path: string;
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
    @Inject(CONFIG) private readonly config: Pick<Config, 'accessTokenTtl'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** False for an audience by which a token would open this service, or every one. */
  mayBeFor(audience: string): boolean {
    return audience !== ANY_AUDIENCE && !this.tokens.isForService({ aud: audience });
  }

  /** When what is given for a request ends that asks for so many seconds: not after its own token, nor after GRID_ACCESS_TOKEN_TTL. */
  endOf({ claims }: Principal, seconds: number): Date {
    const now = this.clock.now();
    const own = (claims?.exp ?? Infinity) * 1000;
    return new Date(Math.min(now + Math.min(seconds, this.config.accessTokenTtl) * 1000, own));
  }

  /**
   * Tokens that let their bearer read or create these paths: as many paths in each as it has room for, in their order. They are revoked with the
   * token of the request, where that is one of ours. Throws Problem 409 `catalogue.no-address` for a path that no token has room for.
   */
  async give(principal: Principal, wishes: StorageWishes): Promise<StorageToken[]> {
    const { audience, right, paths, notAfter } = wishes;
    const holder = await this.holderOf(principal);
    const given: StorageToken[] = [];
    for (const group of packed(paths, right)) {
      const scopes = group.map((path) => scopeOf(path, right));
      const input = { ...holder, scopes, audiences: [audience], notAfter };
      const { token, claims } = await this.tokens.mint(input);
      if (token.length > MOST_TOKEN_BYTES) {
        const text = `The token for a path of such length is larger than storage services take: ${group[0]}`;
        throw new Problem('catalogue.no-address', text);
      }
      given.push({ paths: group, token, expires: new Date(claims.exp * 1000) });
    }
    return given;
  }

  /**
   * A token by which the service itself does so with one path at a storage, in the name of nobody else. Throws Problem 409
   * `catalogue.no-address` for an audience that no storage has alone.
   */
  async ofService({ audience, rights, path }: ServiceWishes): Promise<string> {
    if (!this.mayBeFor(audience)) {
      const text = 'The audience of the storage is that of this service, or of all services';
      throw new Problem('catalogue.no-address', text);
    }
    const { token } = await this.tokens.mint({
      user: applicationItself(STORAGE_CLIENT),
      ...{ group: '', setup: '', clientId: STORAGE_CLIENT, audiences: [audience] },
      scopes: rights.map((right) => scopeOf(path, right)),
      notAfter: new Date(this.clock.now() + SERVICE_SECONDS * 1000),
    });
    return token;
  }

  private async holderOf({ user: name, group, setup, clientId, claims }: Principal) {
    const sub = name.startsWith(APPLICATION_PREFIX)
      ? name.slice(APPLICATION_PREFIX.length)
      : (await this.registry.current()).userByName(name)?.sub;
    const user = { name, ...(sub !== undefined && { sub }) };
    return {
      ...{ user, group, setup, clientId },
      ...(claims && { parentId: claims.jti }),
      ...(claims?.act && { act: claims.act }),
    };
  }
}

function scopeOf(path: string, right: StorageRight): string {
  return `storage.${right}:${scopePathText(scopePathOf(path, 'file'))}`;
}

/** The paths in groups whose scopes have room in one token. */
function packed(paths: readonly string[], right: StorageRight): string[][] {
  const groups: string[][] = [];
  let bytes = Infinity;
  for (const path of paths) {
    const more = scopeOf(path, right).length + 1;
    if (bytes + more > MOST_SCOPE_BYTES) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(path);
    bytes += more;
  }
  return groups;
}
