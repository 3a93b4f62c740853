import { stringifyJson } from '#src/kernel/index.js';

/** Type of the message of `POST /webhooks/<id>/test`. */
export const TEST_TYPE = 'webhook.test';

/** The bytes that are sent: what Standard Webhooks 1.0 recommends, with the data of the feed's event. */
export function bodyOf({ type, time, data }: { type: string; time: Date; data: object }): string {
  return stringifyJson({ type, timestamp: time.toISOString(), data });
}
