import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { Limited } from '../protocol/limited.decorator.js';
import { MayAskToSignIn, PageRoute } from '../sign-in/pages/page-route.decorator.js';
import { ClientAccess } from '../access/access.decorator.js';
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

  /**
   * Start a login on a device without browser.
   *
   * @remarks Answers a code that the user types on another device (RFC 8628); the device asks the token endpoint until the user has decided.
   * @throws {400} `invalid_request`, `invalid_scope`
   * @throws {401} `invalid_client`
   */
  @Post('device_authorization')
  @HttpCode(200)
  @ClientAccess()
  @Limited('token')
  async startDevice(
    @Body() form: DeviceForm,
    @Req() request: HttpRequest,
  ): Promise<DeviceResponse> {
    return this.devices.start(form, request);
  }

  /**
   * Page on which the user of a device types its code.
   *
   * @remarks With `user_code` the question is shown at once.
   */
  @Get('device')
  @Limited('authorize')
  @PageRoute({ page: 'A page' })
  @MayAskToSignIn()
  async askForCode(
    @Query() query: DeviceQuery,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.ask(query, request, response);
  }

  /**
   * The code or the decision on the device page.
   *
   * @remarks The device then gets its token, or learns that the user said no.
   */
  @Post('device')
  @HttpCode(200)
  @Limited('authorize')
  @PageRoute({ page: 'A page', isForm: true })
  @MayAskToSignIn()
  async takeDecision(
    @Body() form: DeviceDecisionForm,
    @Req() request: HttpRequest,
    @Res() response: HttpResponse,
  ): Promise<void> {
    await this.pages.decide(form, request, response);
  }
}
