import { Command } from 'commander';
import type {
  DeliveryResponse,
  ListWebhookDeliveriesQuery,
  MakeWebhookRequest,
  WebhookResponse,
} from '#src/client/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';

interface AddOptions extends Printing {
  source: string;
  filter: string[];
  all?: boolean;
  description?: string;
}

interface DeliveriesOptions extends Printing {
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
      onOne('show', 'one webhook', async (grid, id, options) => {
        const webhook = await grid.client.getWebhook(id);
        await show(options, webhook, () => linesOf(webhook), [id]);
      }),
    )
    .addCommand(
      onOne('remove', 'remove a webhook with its deliveries', async (grid, id, options) => {
        await show(options, await grid.client.removeWebhook(id), () => [`${id} removed`]);
      }),
    )
    .addCommand(onOne('test', 'send a test message now', test))
    .addCommand(deliveriesCommand())
    .addCommand(replayCommand())
    .addCommand(
      onOne(
        'rotate',
        'a new secret; the one before signs for a day more',
        async (grid, id, options) => {
          const made = await grid.client.rotateWebhookSecret(id);
          await show(options, made, () => [made.secret]);
        },
      ),
    );
}

/** A verb on one webhook. */
function onOne(
  name: string,
  description: string,
  work: (grid: GridConnection, id: string, options: Printing) => Promise<void>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'id of the webhook')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, options: Printing) => withConnection((grid) => work(grid, id, options)));
}

function addCommand(): Command {
  return new Command('add')
    .description('have changes sent to an https URL; prints the id, and the secret this once')
    .argument('<url>', 'where to')
    .option('-s, --source <source>', 'jobs or filecatalogue', 'jobs')
    .option('-f, --filter <key=value>', 'only such changes; may be repeated', collect, [])
    .option('--all', 'jobs of all owners')
    .option('-d, --description <text>', 'for people')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((url: string, options: AddOptions) =>
      withConnection(async (grid) => {
        const { source, description } = options;
        const made = await grid.client.addWebhook({
          url,
          source: source as MakeWebhookRequest['source'], // the service judges it
          filter: filterOf(options),
          ...(description !== undefined && { description }),
        });
        await show(options, made, () => [`${made.id} ${made.secret}`], [made.id]);
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
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((options: Printing) =>
      withConnection(async (grid) => {
        const answer = await grid.client.listWebhooks();
        const rows = answer.webhooks.map(({ id, source, enabled, url }) => [
          id,
          source,
          enabled ? 'enabled' : 'disabled',
          url,
        ]);
        const names = answer.webhooks.map(({ id }) => id);
        const heading = ['ID', 'SOURCE', 'STATE', 'URL'];
        await present(options, { value: answer, heading, rows, names });
      }),
    );
}

function linesOf(webhook: WebhookResponse): string[] {
  return Object.entries(webhook).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : stringifyJson(value)}`,
  );
}

async function test(grid: GridConnection, id: string, options: Printing): Promise<void> {
  const answer = await grid.client.testWebhook(id);
  const { delivered, status, error } = answer;
  await show(options, answer, () => [
    delivered ? `delivered: answered ${status}` : `failed: ${error}`,
  ]);
  if (!delivered) throw new CommandError('the test message was not delivered');
}

function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description('what was sent, newest first')
    .argument('<id>', 'id of the webhook')
    .option('-s, --state <state>', 'waiting, delivered, failed or withheld')
    .option('-n, --limit <number>', 'at most so many', '20')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, options: DeliveriesOptions) =>
      withConnection(async (grid) => {
        const { state, limit } = options;
        const answer = await grid.client.listWebhookDeliveries(id, {
          limit: Number(limit),
          ...(state !== undefined && {
            state: state as ListWebhookDeliveriesQuery['state'] & string,
          }),
        });
        const rows = answer.deliveries.map(rowOf);
        const heading = ['ID', 'TYPE', 'SUBJECT', 'STATE', 'ATTEMPTS', 'LAST ANSWER'];
        const names = answer.deliveries.map((one) => one.id);
        await present(options, { value: answer, heading, rows, names });
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
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, delivery: string, options: Printing) =>
      withConnection(async (grid) => {
        const answer = await grid.client.replayWebhookDelivery(id, delivery);
        await show(options, answer, () => [`${delivery} is sent again`]);
      }),
    );
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
