import { Body, Controller, Get, HttpCode, Post, Query, Req, UseFilters } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiForbiddenResponse,
  ApiOkResponse,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest } from '#src/http/index.js';
import { Access } from '../access/access.decorator.js';
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

  /** Get an access token, parameters in the query string. */
  @Get('token')
  @Access('open')
  async getToken(@Query() query: TokenQuery, @Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(query, request);
  }

  /** Get an access token, parameters in a form. */
  @Post('token')
  @HttpCode(200)
  @Access('open')
  async postToken(@Body() form: TokenForm, @Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(form, request);
  }
}
