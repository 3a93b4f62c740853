import { Body, Controller, Get, HttpCode, Post, Query, Req, UseFilters } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiForbiddenResponse,
  ApiOkResponse,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest } from '#src/http/index.js';
import { ClientAccess } from '../access/access.decorator.js';
import { Limited } from '../protocol/limited.decorator.js';
import { TokenResponse } from './grants/token.response.js';
import { TokenAuditFilter } from './token-audit.filter.js';
import { TokenForm, TokenQuery } from './token.request.js';
import { TokenService } from './token.service.js';

/** The token endpoint (RFC 6749 §3.2). */
@ApiOkResponse({ type: TokenResponse })
@ApiBadRequestResponse({ description: '`invalid_request`, `invalid_grant`, `invalid_scope`, …' })
@ApiUnauthorizedResponse({ description: '`invalid_client`' })
@ApiForbiddenResponse({ description: '`access_denied`: not your group or no such setup' })
@Limited('token')
@UseFilters(TokenAuditFilter)
@ApiTags('authorization')
@Controller('oauth2')
export class TokenController {
  constructor(private readonly tokens: TokenService) {}

  /**
   * Get an access token, parameters in the query string.
   *
   * @remarks Of the user of the client certificate for `group` and `setup` (`grant_type=client_credentials`), or by a code or refresh token of an application.
   */
  @Get('token')
  @ClientAccess()
  async getToken(@Query() query: TokenQuery, @Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(query, request);
  }

  /**
   * Get an access token, parameters in a form.
   *
   * @remarks Every grant of the server; which parameters are needed depends on `grant_type`. They may stand in the query string as well. Each stands once, but for `audience` and `resource`.
   */
  @Post('token')
  @HttpCode(200)
  @ClientAccess()
  async postToken(@Body() form: TokenForm, @Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(form, request);
  }
}
