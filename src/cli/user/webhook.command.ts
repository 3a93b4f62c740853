import { Command } from 'commander';
import type {
  DeliveryResponse,
  ListWebhookDeliveriesQuery,
  MakeWebhookRequest,
  WebhookResponse,
} from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { show, table } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';

interface Json {
  json?: boolean;
}

interface AddOptions extends Json {
  source: string;
  filter: string[];
  all?: boolean;
  description?: string;
}

interface DeliveriesOptions extends Json {
  state?: string;
  limit: string;
}

/** `webhook add|list|show|remove|test|deliveries|replay|rotate`. */
export function webhookCommand(): Command {
  const command = new Command('webhook').description('receivers that are told of changes');
  return command
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(
      onOne('show', 'one webhook', async (grid, id, { json }) => {
        const webhook = await grid.client.getWebhook(id);
        show(json, webhook, () => linesOf(webhook));
      }),
    )
    .addCommand(
      onOne('remove', 'remove a webhook with its deliveries', async (grid, id, { json }) => {
        show(json, await grid.client.removeWebhook(id), () => [`${id} removed`]);
      }),
    )
    .addCommand(onOne('test', 'send a test message now', test))
    .addCommand(deliveriesCommand())
    .addCommand(replayCommand())
    .addCommand(
      onOne(
        'rotate',
        'a new secret; the one before signs for a day more',
        async (grid, id, { json }) => {
          const made = await grid.client.rotateWebhookSecret(id);
          show(json, made, () => [made.secret]);
        },
      ),
    );
}

/** A verb on one webhook. */
function onOne(
  name: string,
  description: string,
  work: (grid: GridConnection, id: string, options: Json) => Promise<void>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'id of the webhook')
    .option('--json', 'print JSON')
    .action((id: string, options: Json) => withConnection((grid) => work(grid, id, options)));
}

function addCommand(): Command {
  return new Command('add')
    .description('have changes sent to an https URL; prints the id, and the secret this once')
    .argument('<url>', 'where to')
    .option('-s, --source <source>', 'jobs or filecatalogue', 'jobs')
    .option('-f, --filter <key=value>', 'only such changes; may be repeated', collect, [])
    .option('--all', 'jobs of all owners')
    .option('-d, --description <text>', 'for people')
    .option('--json', 'print JSON')
    .action((url: string, options: AddOptions) =>
      withConnection(async (grid) => {
        const { source, description } = options;
        const made = await grid.client.addWebhook({
          url,
          source: source as MakeWebhookRequest['source'], // the service judges it
          filter: filterOf(options),
          ...(description !== undefined && { description }),
        });
        show(options.json, made, () => [`${made.id} ${made.secret}`]);
      }),
    );
}

function filterOf({ filter, all }: AddOptions): Record<string, unknown> {
  const values = new Map<string, string[]>();
  for (const word of filter) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (key === undefined || value === undefined) {
      throw new CommandError(`${word} is no filter: status=Done is one`, 2);
    }
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  const single = [...values].map(([key, all]) => [key, all.length === 1 ? all[0] : all] as const);
  return { ...Object.fromEntries(single), ...(all && { allOwners: true }) };
}

function listCommand(): Command {
  return new Command('list')
    .description('your webhooks in this group and setup')
    .option('--json', 'print JSON')
    .action((options: Json) =>
      withConnection(async (grid) => {
        const answer = await grid.client.listWebhooks();
        const rows = answer.webhooks.map(({ id, source, enabled, url }) => [
          id,
          source,
          enabled ? 'enabled' : 'disabled',
          url,
        ]);
        show(options.json, answer, () => table(['ID', 'SOURCE', 'STATE', 'URL'], rows));
      }),
    );
}

function linesOf(webhook: WebhookResponse): string[] {
  return Object.entries(webhook).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
}

async function test(grid: GridConnection, id: string, { json }: Json): Promise<void> {
  const answer = await grid.client.testWebhook(id);
  const { delivered, status, error } = answer;
  show(json, answer, () => [delivered ? `delivered: answered ${status}` : `failed: ${error}`]);
  if (!delivered) throw new CommandError('the test message was not delivered');
}

function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description('what was sent, newest first')
    .argument('<id>', 'id of the webhook')
    .option('-s, --state <state>', 'waiting, delivered, failed or withheld')
    .option('-n, --limit <number>', 'at most so many', '20')
    .option('--json', 'print JSON')
    .action((id: string, { state, limit, json }: DeliveriesOptions) =>
      withConnection(async (grid) => {
        const answer = await grid.client.listWebhookDeliveries(id, {
          limit: Number(limit),
          ...(state !== undefined && {
            state: state as ListWebhookDeliveriesQuery['state'] & string,
          }),
        });
        const rows = answer.deliveries.map(rowOf);
        const heading = ['ID', 'TYPE', 'SUBJECT', 'STATE', 'ATTEMPTS', 'LAST ANSWER'];
        show(json, answer, () => table(heading, rows));
      }),
    );
}

function rowOf({ id, type, subject, state, attempts, status, error }: DeliveryResponse): string[] {
  return [id, type, subject, state, String(attempts), error ?? String(status ?? '')];
}

function replayCommand(): Command {
  return new Command('replay')
    .description('send a message again, or now if it waits')
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .option('--json', 'print JSON')
    .action((id: string, delivery: string, options: Json) =>
      withConnection(async (grid) => {
        const answer = await grid.client.replayWebhookDelivery(id, delivery);
        show(options.json, answer, () => [`${delivery} is sent again`]);
      }),
    );
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
