import { Body, Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiFoundResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Limited } from '../../protocol/limited.decorator.js';
import { PageRoute } from '../pages/page-route.decorator.js';
import { LoginGuard, LoginResult, type LoginOutcome } from './login.guard.js';
import { LoginForm } from './login.request.js';
import { LoginPages } from './login.pages.js';

/** To an external identity provider and back. */
@ApiTags('authorization')
@Controller('oauth2')
export class LoginController {
  constructor(private readonly pages: LoginPages) {}

  @Post('login')
  @Limited('authorize')
  @PageRoute('Sign in again with the certificate of the browser')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiFoundResponse({ description: 'Back to the page that asked for the sign-in' })
  async signInAgain(
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.signInAgain(form, request, response);
  }

  @ApiParam({ name: 'provider', description: 'Name of an identity provider' })
  @Post('login/:provider')
  @Limited('authorize')
  @PageRoute('Go to an identity provider to sign in')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiFoundResponse({ description: 'To the identity provider' })
  async beginLogin(
    @Param('provider') provider: string,
    @Body() form: LoginForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.begin(provider, form, request, response);
  }

  @ApiParam({ name: 'provider', description: 'Name of an identity provider' })
  @Get('callback/:provider')
  @UseGuards(LoginGuard)
  @PageRoute('Come back from an identity provider')
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
