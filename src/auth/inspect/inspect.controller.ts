import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiTags, ApiUnauthorizedResponse } from '@nestjs/swagger';
import type { HttpRequest } from '#src/http/index.js';
import { ClientAccess } from '../access/access.decorator.js';
import { InspectForm } from './inspect.request.js';
import { InspectService } from './inspect.service.js';
import { IntrospectionResponse } from './introspection.response.js';

const REVOKED = { $ref: '#/components/schemas/RevokedTokenResponse' };

/** Revocation and introspection of tokens. */
@ApiUnauthorizedResponse({
  description: '`invalid_client`, or the challenge of a bound token that somebody else shows',
})
@ApiTags('authorization')
@Controller('oauth2')
export class InspectController {
  constructor(private readonly inspection: InspectService) {}

  /**
   * Revoke an access or refresh token (RFC 7009).
   *
   * @remarks A refresh token is revoked with its whole family. A token that is unknown or of another application is no error.
   */
  @Post('revoke')
  @HttpCode(200)
  @ClientAccess()
  @ApiOkResponse({ description: 'Revoked, or unknown', schema: REVOKED })
  async revokeToken(
    @Body() form: InspectForm,
    @Req() request: HttpRequest,
  ): Promise<Record<string, never>> {
    await this.inspection.revoke(form, request);
    return {};
  }

  /**
   * Ask what a token is worth (RFC 7662).
   *
   * @remarks `active` is false for a token that is expired, revoked, unknown or not the caller's to ask about, and nothing more is said.
   */
  @Post('introspect')
  @HttpCode(200)
  @ClientAccess()
  async introspectToken(
    @Body() form: InspectForm,
    @Req() request: HttpRequest,
  ): Promise<IntrospectionResponse> {
    return this.inspection.introspect(form, request);
  }
}
