import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { LeaveForm, WithdrawForm } from './applications.request.js';
import { ApplicationsPages } from './applications.pages.js';

/** What a user has allowed. */
@ApiTags('authorization')
@ApiProduces('text/html')
@ApiOkResponse({ description: 'A page' })
@Controller('oauth2')
export class ApplicationsController {
  constructor(private readonly pages: ApplicationsPages) {}

  @Get('applications')
  @Access('open')
  @ApiOperation({ summary: 'Page with the applications that may act for you' })
  @ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  })
  async showApplications(
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.show(request, response);
  }

  @Post('applications')
  @HttpCode(200)
  @Access('open')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: WithdrawForm })
  @ApiOperation({ summary: 'Withdraw what an application was allowed' })
  @ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  })
  async withdrawApplication(
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.withdraw(request, response);
  }

  @Post('logout')
  @HttpCode(200)
  @Access('open')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: LeaveForm })
  @ApiOperation({ summary: 'Sign the browser out' })
  async signOut(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    await this.pages.signOut(request, response);
  }
}
