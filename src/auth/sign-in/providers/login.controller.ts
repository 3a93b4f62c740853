import { Body, Controller, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { Limited } from '../../protocol/limited.decorator.js';
import { PageRoute } from '../pages/page-route.decorator.js';
import { LoginGuard, LoginResult, type LoginOutcome } from './login.guard.js';
import { LoginForm } from './login.request.js';
import { LoginPages } from './login.pages.js';
import { ProviderName } from './provider-name.js';

const BACK = 'Back to the page that asked for the sign-in';

/** To an external identity provider and back. */
@ApiTags('authorization')
@Controller('oauth2')
export class LoginController {
  constructor(private readonly pages: LoginPages) {}

  /**
   * Sign in again with the certificate of the browser.
   *
   * @remarks After signing out, or where an application asks for a new sign-in.
   */
  @Post('login')
  @HttpCode(303)
  @Limited('authorize')
  @PageRoute({ leadsTo: BACK, isForm: true })
  async signInAgain(
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.signInAgain(form, request, response);
  }

  /**
   * Go to an identity provider to sign in.
   *
   * @remarks Redirects the browser to the identity provider.
   */
  @Post('login/:provider')
  @HttpCode(303)
  @Limited('authorize')
  @PageRoute({ leadsTo: 'To the identity provider', isForm: true })
  async beginLogin(
    @ProviderName() provider: string,
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.begin(provider, form, request, response);
  }

  /**
   * Come back from an identity provider.
   *
   * @remarks The redirect URI of this service at the identity provider.
   */
  @Get('callback/:provider')
  @HttpCode(302)
  @UseGuards(LoginGuard)
  @PageRoute({ leadsTo: BACK })
  async completeLogin(
    @LoginResult() outcome: LoginOutcome,
    @ProviderName() provider: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.complete(outcome, provider, request, response);
  }
}
