import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Cached } from '#src/http/index.js';
import { Access } from '../access/access.decorator.js';
import { IdTokenKeysService } from '../keys/id-token-keys.service.js';
import { KeysService } from '../keys/keys.service.js';
import { PublicKeySetResponse } from './key-set.response.js';

/** The public signing keys. */
@ApiTags('authorization')
@Controller('.well-known')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly idTokenKeys: IdTokenKeysService,
  ) {}

  /**
   * Public keys of access and ID tokens (RFC 7517).
   *
   * @remarks With these keys anybody checks tokens without asking the service. Keys of a rotation that is under way are among them.
   */
  @Get('jwks.json')
  @Access('open')
  @Cached(300)
  async keySet(): Promise<PublicKeySetResponse> {
    const rings = [this.keys, this.idTokenKeys];
    return { keys: (await Promise.all(rings.map((ring) => ring.publicKeys()))).flat() };
  }
}
