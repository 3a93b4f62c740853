import { Command, Option } from 'commander';
import { ClientsService, type ClientReport, type NewClient } from '../../auth/index.js';
import { isJsonObject, parseJson, type JsonObject } from '../../kernel/index.js';
import {
  CLIENT_PROFILES,
  ID_TOKEN_ALGORITHMS,
  KEY_AUTHENTICATIONS,
  type ClientProfile,
  type KeyAuthentication,
} from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import { readText } from '../terminal/read-text.js';
import type { CliContext } from './context.js';
import { say } from '../terminal/output.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';

interface AddOptions extends Printing {
  name: string;
  redirectUri: string[];
  postLogoutRedirectUri: string[];
  id?: string;
  confidential?: boolean;
  audience: string[];
  profile?: ClientProfile;
  idTokenAlg?: 'RS256';
  auth?: KeyAuthentication;
  jwks?: string;
  subjectDn?: string;
  scope: string[];
  group?: string;
}

/** `gridgate client add|list|show|remove`: the applications that may act for users. */
export function clientCommand(context: CliContext): Command {
  const command = new Command('client').description('applications that may act for users');
  const clients = async (): Promise<ClientsService> =>
    (await context.application()).get(ClientsService);
  command.addCommand(addCommand(clients));
  command
    .command('list')
    .description('all applications')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing) => {
      const found = await (await clients()).list();
      await present(options, {
        value: { clients: found },
        heading: ['CLIENT_ID', 'NAME', 'KIND', 'PROFILE', 'REDIRECT URIS'],
        rows: found.map(row),
        names: found.map(({ client_id: id }) => id),
      });
    });
  command
    .command('show')
    .description('one application')
    .argument('<id>', 'client_id')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (id: string, options: Printing) => {
      const found = await (await clients()).show(id);
      await show(options, found, () =>
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

/** `gridgate client add`. */
function addCommand(clients: () => Promise<ClientsService>): Command {
  return new Command('add')
    .description('register an application; a secret is shown this one time')
    .requiredOption('--name <name>', 'name shown to users')
    .option('--redirect-uri <uri>', 'redirect URI; may be repeated', collect, [])
    .option(
      '--post-logout-redirect-uri <uri>',
      'where its users go once signed out; may be repeated',
      collect,
      [],
    )
    .option('--id <id>', 'client_id; made up when absent')
    .option('--confidential', 'the application can keep a secret')
    .option('--audience <uri>', 'service it may have tokens for; may be repeated', collect, [])
    .addOption(new Option('--profile <profile>', 'what is demanded of it').choices(CLIENT_PROFILES))
    .addOption(
      new Option('--auth <method>', 'how it proves itself in place of a secret').choices(
        KEY_AUTHENTICATIONS,
      ),
    )
    .option('--jwks <file>', 'JSON file of its public keys or certificates (RFC 7517)')
    .option('--subject-dn <dn>', 'DN of its certificate, for tls_client_auth')
    .addOption(
      new Option(
        '--id-token-alg <algorithm>',
        'algorithm of its ID tokens in place of that of GRID_SIGNING_ALG',
      ).choices(ID_TOKEN_ALGORITHMS),
    )
    .option('--scope <scope>', 'scope of tokens for itself; may be repeated', collect, [])
    .option('--group <group>', 'group whose rights bound the tokens for itself')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: AddOptions) => {
      const added = await (await clients()).add(await newClient(options));
      await show(options, added, () =>
        Object.entries(added).map(([key, text]) => `${key}: ${text}`),
      );
    });
}

async function newClient(options: AddOptions): Promise<NewClient> {
  const { name, redirectUri: redirectUris, id, confidential, profile, subjectDn, group } = options;
  const { auth: authentication, scope, jwks: file, audience, postLogoutRedirectUri } = options;
  const { idTokenAlg } = options;
  const given = { id, confidential, profile, authentication, idTokenAlg, subjectDn, group };
  return {
    name,
    redirectUris,
    postLogoutRedirectUris: postLogoutRedirectUri,
    ...(audience.length > 0 && { audiences: audience }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(scope.length > 0 && { scopes: scope }),
    ...(file !== undefined && { jwks: await readKeys(file) }),
  };
}

async function readKeys(file: string): Promise<JsonObject> {
  const text = await readText(file, `--jwks ${file}`);
  let keys: unknown;
  try {
    keys = parseJson(text);
  } catch (error) {
    throw new CommandError(`--jwks ${file} cannot be read: ${(error as Error).message}`, 2);
  }
  if (isJsonObject(keys)) return keys;
  throw new CommandError(`--jwks ${file} holds no JSON object`, 2);
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function row(client: ClientReport): string[] {
  const kind = client.confidential ? 'confidential' : 'public';
  return [client.client_id, client.name, kind, client.profile, client.redirect_uris.join(' ')];
}
