import { pathParameter } from '#src/http/index.js';

const schema = { type: 'string', format: 'uuid' };

/** Handler parameter: the id of a webhook. */
export const WebhookId = pathParameter('id', { description: 'Id of the webhook', schema });

/** Handler parameter: the id of a delivery. */
export const DeliveryId = pathParameter('delivery', { description: 'Id of the delivery', schema });
