import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  type ApiParamOptions,
} from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited, clientSignal, type HttpRequest, type HttpResponse } from '#src/platform/index.js';
import { WebhookDeliveries } from './webhook-deliveries.service.js';
import {
  ChangeWebhookRequest,
  ListDeliveriesQuery,
  MakeWebhookRequest,
} from './webhook.request.js';
import {
  DeliveryListResponse,
  DeliveryResponse,
  MadeWebhookResponse,
  RemovedWebhookResponse,
  WebhookListResponse,
  WebhookResponse,
  WebhookSecretResponse,
  WebhookTestResponse,
} from './webhook.response.js';
import { WebhooksService } from './webhooks.service.js';

const ID: ApiParamOptions = {
  name: 'id',
  description: 'Id of the webhook',
  schema: { type: 'string', format: 'uuid' },
};
const DELIVERY: ApiParamOptions = {
  ...ID,
  name: 'delivery',
  description: 'Id of the delivery',
};
const webhookOf = ({ params }: HttpRequest) => ({ webhook: params['id'] });

/** Webhooks: receivers that are told of changes. */
@ApiTags('webhooks')
@Controller('webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @Post()
  @Access('bearer', 'webhooks')
  @Audited<MadeWebhookResponse>('webhook.added', (_request, made) => made && { webhook: made.id })
  @ApiOperation({
    operationId: 'addWebhook',
    summary: 'Have changes sent to a receiver',
    description: 'Beside `webhooks` it takes the scope with which the changes can be read.',
  })
  @ApiCreatedResponse({ type: MadeWebhookResponse })
  @ApiForbiddenResponse({ description: 'The token lacks the scope that reads the changes' })
  @ApiConflictResponse({ description: 'There are as many webhooks as a user may have' })
  async add(
    @CurrentPrincipal() principal: Principal,
    @Body() body: MakeWebhookRequest,
  ): Promise<MadeWebhookResponse> {
    return this.webhooks.add(principal, body);
  }

  @Get()
  @Access('bearer', 'webhooks')
  @ApiOperation({ operationId: 'listWebhooks', summary: 'List webhooks, oldest first' })
  @ApiOkResponse({ type: WebhookListResponse })
  async list(@CurrentPrincipal() principal: Principal): Promise<WebhookListResponse> {
    return { webhooks: await this.webhooks.list(principal) };
  }

  @Get(':id')
  @Access('bearer', 'webhooks')
  @ApiOperation({ operationId: 'getWebhook', summary: 'A webhook' })
  @ApiParam(ID)
  @ApiOkResponse({ type: WebhookResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
  ): Promise<WebhookResponse> {
    return this.webhooks.get(principal, id);
  }

  @Patch(':id')
  @Access('bearer', 'webhooks')
  @Audited('webhook.changed', webhookOf)
  @ApiOperation({ operationId: 'changeWebhook', summary: 'Change, stop or resume a webhook' })
  @ApiParam(ID)
  @ApiOkResponse({ type: WebhookResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ChangeWebhookRequest,
  ): Promise<WebhookResponse> {
    return this.webhooks.change(principal, id, body);
  }

  @Delete(':id')
  @Access('bearer', 'webhooks')
  @Audited('webhook.removed', webhookOf)
  @ApiOperation({ operationId: 'removeWebhook', summary: 'Remove a webhook with its deliveries' })
  @ApiParam(ID)
  @ApiOkResponse({ type: RemovedWebhookResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
  ): Promise<RemovedWebhookResponse> {
    return { id: await this.webhooks.remove(principal, id), deleted: true };
  }

  @Post(':id/secret')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.secret-changed', webhookOf)
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Give a webhook a new secret; for a day both sign',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: WebhookSecretResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  async rotate(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
  ): Promise<WebhookSecretResponse> {
    return this.webhooks.rotate(principal, id);
  }

  @Post(':id/test')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.tested', webhookOf)
  @ApiOperation({
    operationId: 'testWebhook',
    summary: 'Send a test message now, once, and say what came of it',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: WebhookTestResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  @ApiConflictResponse({ description: 'Its rights are gone: it is disabled' })
  async test(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Req() request: HttpRequest,
  ): Promise<WebhookTestResponse> {
    return this.deliveries.test(principal, id, clientSignal(request));
  }

  @Get(':id/deliveries')
  @Access('bearer', 'webhooks')
  @ApiOperation({ operationId: 'listWebhookDeliveries', summary: 'List deliveries, newest first' })
  @ApiParam(ID)
  @ApiOkResponse({ type: DeliveryListResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours' })
  async listDeliveries(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: ListDeliveriesQuery,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<DeliveryListResponse> {
    const { deliveries, next } = await this.deliveries.list(principal, id, query);
    if (next !== undefined) response.setHeader('Link', `<${next}>; rel="next"`);
    return { deliveries };
  }

  @Post(':id/deliveries/:delivery/replay')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.replayed', ({ params }) => ({
    webhook: params['id'],
    delivery: params['delivery'],
  }))
  @ApiOperation({
    operationId: 'replayWebhookDelivery',
    summary: 'Send a message again, or now if it waits',
  })
  @ApiParam(ID)
  @ApiParam(DELIVERY)
  @ApiOkResponse({ type: DeliveryResponse })
  @ApiNotFoundResponse({ description: 'Unknown or not yours, or not kept any more' })
  @ApiConflictResponse({ description: 'The webhook is disabled' })
  async replay(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('delivery') delivery: string,
  ): Promise<DeliveryResponse> {
    return this.deliveries.replay(principal, id, delivery);
  }
}
