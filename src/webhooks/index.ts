export { WEBHOOK_PATH_PARAMETERS } from './management/webhook.openapi.js';
export { WebhooksModule } from './webhooks.module.js';
