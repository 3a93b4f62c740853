import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { MayAskToSignIn, PageRoute } from '../sign-in/pages/page-route.decorator.js';
import { WithdrawForm } from './applications.request.js';
import { ApplicationsPages } from './applications.pages.js';

/** What a user has allowed. */
@ApiTags('authorization')
@ApiOkResponse({ description: 'A page' })
@Controller('oauth2')
export class ApplicationsController {
  constructor(private readonly pages: ApplicationsPages) {}

  @Get('applications')
  @Limited('authorize')
  @PageRoute('Page with the applications that may act for you')
  @MayAskToSignIn()
  async showApplications(
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.show(request, response);
  }

  @Post('applications')
  @HttpCode(200)
  @Limited('authorize')
  @PageRoute('Withdraw what an application was allowed')
  @MayAskToSignIn()
  @ApiConsumes('application/x-www-form-urlencoded')
  async withdrawApplication(
    @Body() form: WithdrawForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.withdraw(form, request, response);
  }
}
