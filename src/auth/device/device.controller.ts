import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { MayAskToSignIn, PageRoute } from '../sign-in/pages/page-route.decorator.js';
import { Access } from '../access/access.decorator.js';
import { DevicePages } from './device.pages.js';
import { DeviceDecisionForm, DeviceForm, DeviceQuery } from './device.request.js';
import { DeviceResponse } from './device.response.js';
import { DeviceService } from './device.service.js';

/** Device authorization (RFC 8628). */
@ApiTags('authorization')
@Controller('oauth2')
export class DeviceController {
  constructor(
    private readonly devices: DeviceService,
    private readonly pages: DevicePages,
  ) {}

  @Post('device_authorization')
  @HttpCode(200)
  @Access('open')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiOperation({ summary: 'Start a login on a device without browser' })
  @ApiOkResponse({ type: DeviceResponse })
  @ApiBadRequestResponse({ description: '`invalid_request`, `invalid_scope`' })
  @ApiUnauthorizedResponse({ description: '`invalid_client`' })
  @Limited('token')
  async startDevice(
    @Body() form: DeviceForm,
    @Req() request: HttpRequest,
  ): Promise<DeviceResponse> {
    return this.devices.start(form, request);
  }

  @Get('device')
  @Limited('authorize')
  @PageRoute('Page on which the user of a device types its code')
  @MayAskToSignIn()
  async askForCode(
    @Query() query: DeviceQuery,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.ask(query, request, response);
  }

  @Post('device')
  @HttpCode(200)
  @Limited('authorize')
  @PageRoute('The code or the decision on the device page')
  @MayAskToSignIn()
  @ApiConsumes('application/x-www-form-urlencoded')
  async takeDecision(
    @Body() form: DeviceDecisionForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.decide(form, request, response);
  }
}
