import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { InspectForm } from './inspect.request.js';
import { InspectService } from './inspect.service.js';
import { IntrospectionResponse } from './introspection.response.js';

/** Revocation and introspection of tokens. */
@ApiTags('authorization')
@ApiConsumes('application/x-www-form-urlencoded')
@ApiUnauthorizedResponse({ description: '`invalid_client`' })
@Controller('oauth2')
export class InspectController {
  constructor(private readonly inspection: InspectService) {}

  @Post('revoke')
  @HttpCode(200)
  @Access('open')
  @ApiOperation({ summary: 'Revoke an access or refresh token (RFC 7009)' })
  @ApiOkResponse({ description: 'Revoked, or unknown', schema: { type: 'object' } })
  async revokeToken(
    @Body() form: InspectForm,
    @Req() request: HttpRequest,
  ): Promise<Record<string, never>> {
    await this.inspection.revoke(form, request);
    return {};
  }

  @Post('introspect')
  @HttpCode(200)
  @Access('open')
  @ApiOperation({ summary: 'Ask what a token is worth (RFC 7662)' })
  @ApiOkResponse({ type: IntrospectionResponse })
  async introspectToken(
    @Body() form: InspectForm,
    @Req() request: HttpRequest,
  ): Promise<IntrospectionResponse> {
    return this.inspection.introspect(form, request);
  }
}
