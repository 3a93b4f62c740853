import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest } from '#src/http/index.js';
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

  /**
   * Hand in an authorization request before the browser is sent.
   *
   * @throws {400} `invalid_request`, `invalid_scope`, …
   * @throws {401} `invalid_client`
   */
  @Post('par')
  @HttpCode(201)
  @Access('open')
  @Limited('token')
  async pushRequest(
    @Body() form: PushedRequestForm,
    @Req() request: HttpRequest,
  ): Promise<PushedRequestResponse> {
    return this.requests.push(form, request);
  }
}
