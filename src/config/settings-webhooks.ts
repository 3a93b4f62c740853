import * as v from './variables.js';

/** How receivers of changes are told of them. */
export const WEBHOOKS = {
  webhookAllow: v.list(
    'GRID_WEBHOOK_ALLOW',
    'Addresses and networks to which webhooks may be sent although they are not public, such as `10.1.0.0/16`',
  ),
  webhookResolvers: v.list(
    'GRID_WEBHOOK_RESOLVERS',
    "Addresses of the name servers that are asked for the receivers of webhooks, `9.9.9.9` or `127.0.0.1:5353` (empty: the machine's)",
  ),
  webhookCa: v.optional(
    'GRID_WEBHOOK_CA',
    'PEM file of CAs that may vouch for the receivers of webhooks beside those that Node.js trusts',
    { defaultText: 'none' },
  ),
  webhookLimit: v.integer('GRID_WEBHOOK_LIMIT', 20, {
    min: 0,
    max: 10_000,
    description: 'Webhooks of one user',
  }),
  webhookConcurrency: v.integer('GRID_WEBHOOK_CONCURRENCY', 32, {
    min: 1,
    max: 1_000,
    description: 'Deliveries of webhooks that an instance has under way at once',
  }),
  webhookTimeout: v.integer('GRID_WEBHOOK_TIMEOUT', 10, {
    min: 1,
    max: 60,
    description: 'Seconds within which the receiver of a webhook must answer',
  }),
  webhookRetention: v.integer('GRID_WEBHOOK_RETENTION', 7 * 86_400, {
    min: 60,
    description:
      'Seconds for which deliveries of webhooks are kept after their end, the latest 1000 of each webhook at most',
  }),
};
