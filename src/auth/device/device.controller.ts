import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiConsumes,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { DevicePages } from './device.pages.js';
import { DeviceDecisionForm, DeviceForm } from './device.request.js';
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
  @ApiBody({ type: DeviceForm })
  @ApiOperation({ summary: 'Start a login on a device without browser' })
  @ApiOkResponse({ type: DeviceResponse })
  @ApiBadRequestResponse({ description: '`invalid_request`, `invalid_scope`' })
  @ApiUnauthorizedResponse({ description: '`invalid_client`' })
  async startDevice(@Req() request: HttpRequest): Promise<DeviceResponse> {
    return this.devices.start(request);
  }

  @Get('device')
  @Access('open')
  @ApiProduces('text/html')
  @ApiQuery({ name: 'user_code', type: String, required: false, example: 'BCDF-GHJK' })
  @ApiOperation({ summary: 'Page on which the user of a device types its code' })
  @ApiOkResponse({ description: 'A page' })
  @ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  })
  async askForCode(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    await this.pages.ask(request, response);
  }

  @Post('device')
  @HttpCode(200)
  @Access('open')
  @ApiProduces('text/html')
  @ApiConsumes('application/x-www-form-urlencoded')
  @ApiBody({ type: DeviceDecisionForm })
  @ApiOperation({ summary: 'The code or the decision on the device page' })
  @ApiOkResponse({ description: 'A page' })
  @ApiUnauthorizedResponse({
    description: 'The page for signing in: the certificate is not accepted',
  })
  async takeDecision(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    await this.pages.decide(request, response);
  }
}
