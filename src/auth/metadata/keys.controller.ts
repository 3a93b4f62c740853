import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../access/access.decorator.js';
import { KeysService } from '../keys/keys.service.js';
import { KeySetResponse } from './key-set.response.js';

/** The public signing keys. */
@ApiTags('authorization')
@Controller('.well-known')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Get('jwks.json')
  @Access('open')
  @Header('Cache-Control', 'public, max-age=300')
  @ApiOperation({ summary: 'Public keys of the access tokens (RFC 7517)' })
  @ApiOkResponse({ type: KeySetResponse })
  async keySet(): Promise<KeySetResponse> {
    return { keys: await this.keys.publicKeys() };
  }
}
