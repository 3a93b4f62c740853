import type { ListWebhookDeliveriesQuery, MakeWebhookRequest } from '#src/client/index.js';
import { group } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, thing } from '../terminal/output-format.js';
import { given, valuesByKey } from '../terminal/reading.js';
import { onGrid } from './on-grid.js';

const ID = ['<id>', 'id of the webhook'] as const;

/** `webhook add|list|show|remove|test|deliveries|replay|rotate`. */
export const webhookCommand = group('webhook', 'receivers that are told of changes', [
  onGrid('add', 'have changes sent to an https URL; prints the id, and the secret this once', {
    args: [['<url>', 'where to']],
    options: [
      ['-s, --source <source>', 'jobs or filecatalogue', { default: 'jobs' }],
      ['-f, --filter <key=value>', 'only such changes', { repeated: true }],
      ['--all', 'jobs of all owners'],
      ['-d, --description <text>', 'for people'],
    ],
    show: async ({ client }, url, { source, filter, all, description }) => {
      const value = await client.addWebhook({
        url,
        source: source as MakeWebhookRequest['source'], // the service judges it
        filter: { ...filterOf(filter), ...(all && { allOwners: true }) },
        ...given({ description }),
      });
      return { value, lines: [`${value.id} ${value.secret}`], names: [value.id] };
    },
  }),
  onGrid('list', 'your webhooks in this group and setup', {
    show: async ({ client }) => {
      const value = await client.listWebhooks();
      return listOf(value, value.webhooks, {
        ID: 'id',
        SOURCE: 'source',
        STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
        URL: 'url',
      });
    },
  }),
  onGrid('show', 'one webhook', {
    args: [ID],
    show: async ({ client }, id) => thing(await client.getWebhook(id), [id]),
  }),
  onGrid('remove', 'remove a webhook with its deliveries', {
    args: [ID],
    show: async ({ client }, id) => {
      return { value: await client.removeWebhook(id), lines: [`${id} removed`] };
    },
  }),
  onGrid('test', 'send a test message now', {
    args: [ID],
    show: async ({ client }, id) => {
      const value = await client.testWebhook(id);
      const { delivered, status, error } = value;
      const line = delivered ? `delivered: answered ${status}` : `failed: ${error}`;
      const fault = new CommandError('the test message was not delivered');
      return { value, lines: [line], fault: !delivered && fault };
    },
  }),
  onGrid('deliveries', 'what was sent, newest first', {
    args: [ID],
    options: [
      ['-s, --state <state>', 'waiting, delivered, failed or withheld'],
      ['-n, --limit <number>', 'at most so many', { default: '20' }],
    ],
    show: async ({ client }, id, { limit, state }) => {
      const only = state as (ListWebhookDeliveriesQuery['state'] & string) | undefined;
      const query = { limit: Number(limit), ...given({ state: only }) };
      const value = await client.listWebhookDeliveries(id, query);
      return listOf(value, value.deliveries, {
        ID: 'id',
        TYPE: 'type',
        SUBJECT: 'subject',
        STATE: 'state',
        ATTEMPTS: 'attempts',
        'LAST ANSWER': ({ error, status }) => error ?? status,
      });
    },
  }),
  onGrid('replay', 'send a message again, or now if it waits', {
    args: [ID, ['<delivery>', 'id of the delivery']],
    show: async ({ client }, id, delivery) => {
      const value = await client.replayWebhookDelivery(id, delivery);
      return { value, lines: [`${delivery} is sent again`] };
    },
  }),
  onGrid('rotate', 'a new secret; the one before signs for a day more', {
    args: [ID],
    show: async ({ client }, id) => {
      const value = await client.rotateWebhookSecret(id);
      return { value, lines: [value.secret] };
    },
  }),
]);

/** A key that is given once has its value, others a list. */
function filterOf(words: string[]): Record<string, unknown> {
  const values = Object.entries(valuesByKey(words, '--filter '));
  return Object.fromEntries(
    values.map(([key, [first, ...others]]) => [
      key,
      others.length === 0 ? first : [first, ...others],
    ]),
  );
}
