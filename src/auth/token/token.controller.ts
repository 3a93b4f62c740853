import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiConsumes,
  ApiForbiddenResponse,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { TokenForm } from './token.request.js';
import { TokenResponse } from './grants/token.response.js';
import { TokenService } from './token.service.js';

/** The token endpoint (RFC 6749 §3.2). */
@ApiTags('authorization')
@ApiOkResponse({ type: TokenResponse })
@ApiBadRequestResponse({ description: '`invalid_request`, `invalid_grant`, `invalid_scope`, …' })
@ApiUnauthorizedResponse({ description: '`invalid_client`' })
@ApiForbiddenResponse({ description: '`access_denied`: not your group or no such setup' })
@Controller('oauth2')
export class TokenController {
  constructor(private readonly tokens: TokenService) {}

  @Get('token')
  @Access('open')
  @ApiOperation({ summary: 'Get an access token, parameters in the query string' })
  @ApiQuery({ name: 'grant_type', type: String, example: 'client_credentials' })
  @ApiQuery({ name: 'group', required: false, description: 'Certificate flow: the group' })
  @ApiQuery({ name: 'setup', required: false, description: 'Certificate flow: the setup' })
  @ApiQuery({ name: 'scope', required: false, description: 'Words separated by blanks' })
  @ApiQuery({ name: 'code', required: false, description: 'Code exchange: the code' })
  @ApiQuery({ name: 'redirect_uri', required: false, description: 'As sent in the first step' })
  @ApiQuery({ name: 'client_id', required: false, description: 'The application' })
  @ApiQuery({ name: 'code_verifier', required: false, description: 'PKCE (RFC 7636)' })
  @ApiQuery({ name: 'refresh_token', required: false })
  async getToken(@Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(request);
  }

  @Post('token')
  @HttpCode(200)
  @Access('open')
  @ApiOperation({ summary: 'Get an access token, parameters in a form' })
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: TokenForm })
  async postToken(@Req() request: HttpRequest): Promise<TokenResponse> {
    return this.tokens.issue(request);
  }
}
