import { Body, Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiFoundResponse } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { Limited } from '../../protocol/limited.decorator.js';
import { PageRoute } from '../pages/page-route.decorator.js';
import { LoginGuard, LoginResult, type LoginOutcome } from './login.guard.js';
import { LoginForm } from './login.request.js';
import { LoginPages } from './login.pages.js';

/** To an external identity provider and back. */
@Controller('oauth2')
export class LoginController {
  constructor(private readonly pages: LoginPages) {}

  /** Sign in again with the certificate of the browser. */
  @Post('login')
  @Limited('authorize')
  @PageRoute()
  @ApiFoundResponse({ description: 'Back to the page that asked for the sign-in' })
  async signInAgain(
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.signInAgain(form, request, response);
  }

  /** Go to an identity provider to sign in. */
  @Post('login/:provider')
  @Limited('authorize')
  @PageRoute()
  @ApiFoundResponse({ description: 'To the identity provider' })
  async beginLogin(
    @Param('provider') provider: string,
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.begin(provider, form, request, response);
  }

  /** Come back from an identity provider. */
  @Get('callback/:provider')
  @UseGuards(LoginGuard)
  @PageRoute()
  @ApiFoundResponse({ description: 'Back to the page that asked for the sign-in' })
  async completeLogin(
    @LoginResult() outcome: LoginOutcome,
    @Param('provider') provider: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.complete(outcome, provider, request, response);
  }
}
