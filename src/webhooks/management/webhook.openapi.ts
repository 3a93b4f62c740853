import type { PathParameter } from '#src/http/index.js';

const ID = { type: 'string', format: 'uuid' };

/** Parts of the paths of webhooks in the OpenAPI document. */
export const WEBHOOK_PATH_PARAMETERS: Record<string, PathParameter> = {
  id: { description: 'Id of the webhook', schema: ID },
  delivery: { description: 'Id of the delivery', schema: ID },
};
