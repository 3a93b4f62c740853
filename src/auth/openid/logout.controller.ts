import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { PageRoute } from '../sign-in/pages/page-route.decorator.js';
import { LogoutPages } from './logout.pages.js';
import { LogoutForm, LogoutQuery } from './logout.request.js';

const SIGNED_OUT = {
  page: 'A page: signed out, or the question whether to',
  leadsTo: 'Back to the application, with `state`',
};

/** Signing out, of the user's own accord or for an application (OpenID Connect RP-Initiated Logout). */
@Limited('authorize')
@ApiTags('authorization')
@Controller('oauth2')
export class LogoutController {
  constructor(private readonly pages: LogoutPages) {}

  /**
   * Sign the browser out.
   *
   * @remarks OpenID Connect RP-Initiated Logout: without a good `id_token_hint` the user is asked first.
   */
  @Get('logout')
  @PageRoute(SIGNED_OUT)
  async askToSignOut(
    @Query() query: LogoutQuery,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.leave(query, request, response);
  }

  /**
   * Sign the browser out, parameters in a form.
   *
   * @remarks Takes the parameters of `GET /oauth2/logout`, or the answer on its page.
   */
  @Post('logout')
  @HttpCode(200)
  @PageRoute({ ...SIGNED_OUT, isForm: true })
  async signOut(
    @Body() form: LogoutForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.leave(form, request, response);
  }
}
