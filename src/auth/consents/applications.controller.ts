import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { MayAskToSignIn, PageRoute } from '../sign-in/pages/page-route.decorator.js';
import { WithdrawForm } from './applications.request.js';
import { ApplicationsPages } from './applications.pages.js';

/** What a user has allowed. */
@ApiTags('authorization')
@Controller('oauth2')
export class ApplicationsController {
  constructor(private readonly pages: ApplicationsPages) {}

  /**
   * Page with the applications that may act for you.
   *
   * @remarks Of the user of the certificate or of the sign-in.
   */
  @Get('applications')
  @Limited('authorize')
  @PageRoute({ page: 'A page' })
  @MayAskToSignIn()
  async showApplications(
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.show(request, response);
  }

  /**
   * Withdraw what an application was allowed.
   *
   * @remarks Its refresh tokens are refused from now on.
   */
  @Post('applications')
  @HttpCode(200)
  @Limited('authorize')
  @PageRoute({ page: 'A page', isForm: true })
  @MayAskToSignIn()
  async withdrawApplication(
    @Body() form: WithdrawForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.withdraw(form, request, response);
  }
}
