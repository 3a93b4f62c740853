import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest } from '#src/http/index.js';
import { ClientAccess } from '../access/access.decorator.js';
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
   * @remarks Answers a `request_uri` for `GET /oauth2/auth` that is good once and for a short time (RFC 9126).
   * @throws {400} `invalid_request`, `invalid_scope`, …
   * @throws {401} `invalid_client`
   */
  @Post('par')
  @HttpCode(201)
  @ClientAccess()
  @Limited('token')
  async pushRequest(
    @Body() form: PushedRequestForm,
    @Req() request: HttpRequest,
  ): Promise<PushedRequestResponse> {
    return this.requests.push(form, request);
  }
}
