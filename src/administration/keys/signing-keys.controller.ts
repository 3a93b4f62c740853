import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, AllKeysService } from '#src/auth/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { SigningKeyListResponse } from './key.response.js';

/** Signing keys, for administrators. */
@ApiTags('administration')
@Controller('admin/keys')
export class SigningKeysController {
  constructor(private readonly keys: AllKeysService) {}

  /**
   * List signing keys.
   *
   * @remarks State and times of each, without anything private.
   */
  @Get()
  @Access('bearer', 'admin')
  async listSigningKeys(): Promise<SigningKeyListResponse> {
    return { keys: await this.keys.report() };
  }

  /**
   * Let the next signing keys take over.
   *
   * @remarks At once when they have been published for ten minutes, else when they will have been; tokens stay good.
   */
  @Post('rotation')
  @HttpCode(200)
  @Access('bearer', 'admin')
  @AuditedRefusal('keys.rotated', () => ({ way: 'request' }))
  async rotateSigningKeys(@Req() request: HttpRequest): Promise<SigningKeyListResponse> {
    return { keys: await this.keys.rotate(false, { request }) };
  }
}
