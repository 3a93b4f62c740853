import { Injectable } from '@nestjs/common';
import { RegistryService } from '#src/registry/index.js';
import type { Principal } from '../bearer/principal.js';
import { challenged } from '../protocol/challenges.js';
import { UserinfoResponse } from './userinfo.response.js';

/** What the registry knows of the bearer of a token. */
@Injectable()
export class UserinfoService {
  constructor(private readonly registry: RegistryService) {}

  /** What the token's scopes let be said of its user now. Throws Problem 401 for a user who has just been removed. */
  async describe({ user, scopes }: Principal): Promise<UserinfoResponse> {
    const known = (await this.registry.current()).userByName(user);
    if (!known) throw challenged('Bearer', 'invalid_token', 'The user of the access token is gone');
    return UserinfoResponse.of(known, scopes);
  }
}
