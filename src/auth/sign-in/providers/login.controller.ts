import { Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiFoundResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Access } from '../../access/access.decorator.js';
import { LoginGuard, LoginResult, type LoginOutcome } from './login.guard.js';
import { LoginForm } from './login.request.js';
import { LoginPages } from './login.pages.js';

/** To an external identity provider and back. */
@ApiTags('authorization')
@ApiParam({ name: 'provider', description: 'Name of an identity provider' })
@Controller('oauth2')
export class LoginController {
  constructor(private readonly pages: LoginPages) {}

  @Post('login/:provider')
  @Access('open')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: LoginForm })
  @ApiOperation({ summary: 'Go to an identity provider to sign in' })
  @ApiFoundResponse({ description: 'To the identity provider' })
  async beginLogin(
    @Param('provider') provider: string,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.begin(provider, request, response);
  }

  @Get('callback/:provider')
  @Access('open')
  @UseGuards(LoginGuard)
  @ApiOperation({ summary: 'Come back from an identity provider' })
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
