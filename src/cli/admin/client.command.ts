import { Command } from 'commander';
import { ClientsService, type ClientReport } from '../../auth/index.js';
import type { CliContext } from './context.js';
import { say, show, table } from '../terminal/output.js';

interface AddOptions {
  name: string;
  redirectUri: string[];
  id?: string;
  confidential?: boolean;
  json?: boolean;
}

/** `gridgate client add|list|show|remove`: the applications that may act for users. */
export function clientCommand(context: CliContext): Command {
  const command = new Command('client').description('applications that may act for users');
  const clients = async (): Promise<ClientsService> =>
    (await context.application()).get(ClientsService);
  command
    .command('add')
    .description('register an application; a secret is shown this one time')
    .requiredOption('--name <name>', 'name shown to users')
    .option('--redirect-uri <uri>', 'redirect URI; may be repeated', collect, [])
    .option('--id <id>', 'client_id; made up when absent')
    .option('--confidential', 'the application can keep a secret')
    .option('--json', 'print JSON')
    .action(async (options: AddOptions) => {
      const { name, redirectUri: redirectUris, id, confidential = false } = options;
      const added = await (
        await clients()
      ).add({ name, redirectUris, confidential, ...(id !== undefined && { id }) });
      show(options.json, added, () =>
        Object.entries(added).map(([key, text]) => `${key}: ${text}`),
      );
    });
  command
    .command('list')
    .description('all applications')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const found = await (await clients()).list();
      show(options.json, { clients: found }, () =>
        table(['CLIENT_ID', 'NAME', 'KIND', 'REDIRECT URIS'], found.map(row)),
      );
    });
  command
    .command('show')
    .description('one application')
    .argument('<id>', 'client_id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const found = await (await clients()).show(id);
      show(options.json, found, () =>
        Object.entries(found).map(([key, value]) => `${key}: ${[value].flat().join(' ')}`),
      );
    });
  command
    .command('remove')
    .description('remove an application; its tokens are refused from now on')
    .argument('<id>', 'client_id')
    .action(async (id: string) => {
      await (await clients()).remove(id);
      say(`removed ${id}`);
    });
  return command;
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function row(client: ClientReport): string[] {
  const kind = client.confidential ? 'confidential' : 'public';
  return [client.client_id, client.name, kind, client.redirect_uris.join(' ')];
}
