import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiConsumes,
  ApiCreatedResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { Limited } from '../protocol/limited.decorator.js';
import { PushedRequestForm } from './pushed-request.request.js';
import { PushedRequestResponse } from './pushed-request.response.js';
import { PushedRequestsService } from './pushed-requests.service.js';

/** The pushed authorization request endpoint (RFC 9126). */
@ApiTags('authorization')
@Controller('oauth2')
export class PushedRequestController {
  constructor(private readonly requests: PushedRequestsService) {}

  @Post('par')
  @HttpCode(201)
  @Access('open')
  @Limited('token')
  @ApiOperation({ summary: 'Hand in an authorization request before the browser is sent' })
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiCreatedResponse({ type: PushedRequestResponse })
  @ApiBadRequestResponse({ description: '`invalid_request`, `invalid_scope`, …' })
  @ApiUnauthorizedResponse({ description: '`invalid_client`' })
  async pushRequest(
    @Body() form: PushedRequestForm,
    @Req() request: HttpRequest,
  ): Promise<PushedRequestResponse> {
    return this.requests.push(form, request);
  }
}
