import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import { clientSignal, type HttpRequest, type HttpResponse } from '#src/http/index.js';
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
import { DeliveryId, WebhookId } from './webhook.openapi.js';

const webhookOf = ({ params }: HttpRequest) => ({ webhook: params['id'] });

/** Webhooks: receivers that are told of changes. */
@ApiTags('webhooks')
@Controller('webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  /**
   * Have changes sent to a receiver.
   *
   * @remarks Beside `webhooks` it takes the scope with which the changes can be read.
   * @throws {403} The token lacks the scope that reads the changes
   * @throws {409} There are as many webhooks as a user may have
   */
  @Post()
  @Access('bearer', 'webhooks')
  @Audited<MadeWebhookResponse>('webhook.added', (_request, made) => made && { webhook: made.id })
  async addWebhook(
    @CurrentPrincipal() principal: Principal,
    @Body() body: MakeWebhookRequest,
  ): Promise<MadeWebhookResponse> {
    return this.webhooks.add(principal, body);
  }

  /**
   * List webhooks, oldest first.
   *
   * @remarks Your own; secrets are not shown.
   */
  @Get()
  @Access('bearer', 'webhooks')
  async listWebhooks(@CurrentPrincipal() principal: Principal): Promise<WebhookListResponse> {
    return { webhooks: await this.webhooks.list(principal) };
  }

  /**
   * A webhook.
   *
   * @remarks Its secret is not shown.
   * @throws {404} Unknown or not yours
   */
  @Get(':id')
  @Access('bearer', 'webhooks')
  async getWebhook(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
  ): Promise<WebhookResponse> {
    return this.webhooks.get(principal, id);
  }

  /**
   * Change, stop or resume a webhook.
   *
   * @remarks What is left out stays; `enabled` resumes one that was stopped.
   * @throws {404} Unknown or not yours
   */
  @Patch(':id')
  @Access('bearer', 'webhooks')
  @Audited('webhook.changed', webhookOf)
  async changeWebhook(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
    @Body() body: ChangeWebhookRequest,
  ): Promise<WebhookResponse> {
    return this.webhooks.change(principal, id, body);
  }

  /**
   * Remove a webhook with its deliveries.
   *
   * @remarks What waits to be sent is not sent any more.
   * @throws {404} Unknown or not yours
   */
  @Delete(':id')
  @Access('bearer', 'webhooks')
  @Audited('webhook.removed', webhookOf)
  async removeWebhook(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
  ): Promise<RemovedWebhookResponse> {
    return { id: await this.webhooks.remove(principal, id), deleted: true };
  }

  /**
   * Give a webhook a new secret; for a day both sign.
   *
   * @remarks The new secret is shown this one time.
   * @throws {404} Unknown or not yours
   */
  @Post(':id/secret')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.secret-changed', webhookOf)
  async rotateWebhookSecret(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
  ): Promise<WebhookSecretResponse> {
    return this.webhooks.rotate(principal, id);
  }

  /**
   * Send a test message now, once, and say what came of it.
   *
   * @remarks It is not sent again when it fails.
   * @throws {404} Unknown or not yours
   * @throws {409} Its rights are gone: it is disabled
   */
  @Post(':id/test')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.tested', webhookOf)
  async testWebhook(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
    @Req() request: HttpRequest,
  ): Promise<WebhookTestResponse> {
    return this.deliveries.test(principal, id, clientSignal(request));
  }

  /**
   * List deliveries, newest first.
   *
   * @remarks Each with its state, how often it was tried, and how that ended; page by page with `after`.
   * @throws {404} Unknown or not yours
   */
  @Get(':id/deliveries')
  @Access('bearer', 'webhooks')
  async listWebhookDeliveries(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
    @Query() query: ListDeliveriesQuery,
    @Res({ passthrough: true }) response: HttpResponse,
  ): Promise<DeliveryListResponse> {
    const { deliveries, next } = await this.deliveries.list(principal, id, query);
    if (next !== undefined) response.setHeader('Link', `<${next}>; rel="next"`);
    return { deliveries };
  }

  /**
   * Send a message again, or now if it waits.
   *
   * @remarks The message is the same, with its id; the receiver can tell that it has it.
   * @throws {404} Unknown or not yours, or not kept any more
   * @throws {409} The webhook is disabled
   */
  @Post(':id/deliveries/:delivery/replay')
  @HttpCode(200)
  @Access('bearer', 'webhooks')
  @Audited('webhook.replayed', ({ params }) => ({
    webhook: params['id'],
    delivery: params['delivery'],
  }))
  async replayWebhookDelivery(
    @CurrentPrincipal() principal: Principal,
    @WebhookId() id: string,
    @DeliveryId() delivery: string,
  ): Promise<DeliveryResponse> {
    return this.deliveries.replay(principal, id, delivery);
  }
}
