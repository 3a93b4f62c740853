import { Body, Controller, Get, HttpCode, Post, Query, Res, UseInterceptors } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpResponse } from '#src/http/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { MayAskToSignIn, PageRoute } from '../sign-in/pages/page-route.decorator.js';
import {
  Authorization,
  AuthorizationInterceptor,
  type AuthorizationCall,
} from './authorization.interceptor.js';
import { AuthorizePages } from './authorize.pages.js';
import { AuthorizationQuery, ConsentForm } from './authorize.request.js';

const BACK = 'Back to the application, with `code` or `error`, `state`, `iss`';

/** The authorization endpoint (RFC 6749 §3.1). */
@ApiTags('authorization')
@Controller('oauth2')
export class AuthorizeController {
  constructor(private readonly pages: AuthorizePages) {}

  /**
   * Sign in and allow an application to act for you.
   *
   * @remarks The authorization endpoint (RFC 6749 §3.1), with PKCE and pushed authorization requests. A fault that concerns the application is sent to its `redirect_uri`.
   */
  @Get('auth')
  @UseInterceptors(AuthorizationInterceptor)
  @Limited('authorize')
  @PageRoute({ page: 'A page: sign-in, or the question for consent', leadsTo: BACK })
  @MayAskToSignIn()
  async askForConsent(
    @Authorization() call: AuthorizationCall,
    @Query() query: AuthorizationQuery,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.ask(call, query, response);
  }

  /**
   * The answer on the consent page; or, without a query, an authorization request as a form.
   *
   * @remarks Leads back to the application with a code, or with `error=access_denied` when the user says no.
   */
  @Post('auth')
  @HttpCode(303)
  @UseInterceptors(AuthorizationInterceptor)
  @Limited('authorize')
  @PageRoute({ leadsTo: BACK, isForm: true })
  async takeConsent(
    @Authorization() call: AuthorizationCall,
    @Query() query: AuthorizationQuery,
    @Body() form: ConsentForm,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.decide(call, { query, form }, response);
  }
}
