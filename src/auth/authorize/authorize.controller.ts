import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { AuthorizePages } from './authorize.pages.js';
import { ConsentForm } from './authorize.request.js';

/** The authorization endpoint (RFC 6749 §3.1). */
@ApiTags('authorization')
@ApiProduces('text/html')
@ApiQuery({ name: 'response_type', type: String, example: 'code' })
@ApiQuery({ name: 'client_id', type: String, example: 'demo-portal' })
@ApiQuery({ name: 'redirect_uri', required: false })
@ApiQuery({ name: 'state', required: false })
@ApiQuery({ name: 'scope', required: false, description: 'Words separated by blanks' })
@ApiQuery({ name: 'code_challenge', required: false, description: 'PKCE (RFC 7636)' })
@ApiQuery({ name: 'code_challenge_method', type: String, required: false, example: 'S256' })
@ApiFoundResponse({
  description: 'Back to the application, with `code` or `error`, `state`, `iss`',
})
@Controller('oauth2')
export class AuthorizeController {
  constructor(private readonly pages: AuthorizePages) {}

  @Get('auth')
  @Access('open')
  @ApiOperation({ summary: 'Sign in and allow an application to act for you' })
  @ApiOkResponse({ description: 'A page: sign-in, or the question for consent' })
  @ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  })
  async askForConsent(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    await this.pages.ask(request, response);
  }

  @Post('auth')
  @Access('open')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: ConsentForm })
  @ApiOperation({ summary: 'The answer on the consent page' })
  async takeConsent(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    await this.pages.decide(request, response);
  }
}
