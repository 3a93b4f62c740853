import { ClientsService, type NewClient } from '../../auth/index.js';
import { isJsonObject, parseJson, type JsonObject } from '../../kernel/index.js';
import { CLIENT_PROFILES, ID_TOKEN_ALGORITHMS, KEY_AUTHENTICATIONS } from '../../registry/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, thing } from '../terminal/output-format.js';
import { say } from '../terminal/output.js';
import { given, readText } from '../terminal/reading.js';
import { onService } from './context.js';

const ID = ['<id>', 'client_id'] as const;
const OPTIONS = [
  ['--name <name>', 'name shown to users', { required: true }],
  ['--redirect-uri <uri>', 'redirect URI', { repeated: true }],
  ['--post-logout-redirect-uri <uri>', 'where its users go once signed out', { repeated: true }],
  ['--id <id>', 'client_id; made up when absent'],
  ['--confidential', 'the application can keep a secret'],
  ['--audience <uri>', 'service it may have tokens for', { repeated: true }],
  ['--profile <profile>', 'what is demanded of it', { choices: CLIENT_PROFILES }],
  [
    '--auth <method>',
    'how it proves itself in place of a secret',
    { choices: KEY_AUTHENTICATIONS },
  ],
  ['--jwks <file>', 'JSON file of its public keys or certificates (RFC 7517)'],
  ['--subject-dn <dn>', 'DN of its certificate, for tls_client_auth'],
  [
    '--id-token-alg <algorithm>',
    'algorithm of its ID tokens in place of that of GRID_SIGNING_ALG',
    { choices: ID_TOKEN_ALGORITHMS },
  ],
  ['--scope <scope>', 'scope of tokens for itself', { repeated: true }],
  ['--group <group>', 'group whose rights bound the tokens for itself'],
] as const;

/** `gridgate client list|show|add|remove`: the applications that may act for users. */
export const clientCommand = group('client', 'applications that may act for users', [
  onService('list', 'all applications', {
    show: async (service) => {
      const clients = await (await service.get(ClientsService)).list();
      return listOf({ clients }, clients, {
        CLIENT_ID: 'client_id',
        NAME: 'name',
        KIND: ({ confidential }) => (confidential ? 'confidential' : 'public'),
        PROFILE: 'profile',
        'REDIRECT URIS': 'redirect_uris',
      });
    },
  }),
  onService('show', 'one application', {
    args: [ID],
    show: async (service, id) => thing(await (await service.get(ClientsService)).show(id), [id]),
  }),
  onService('add', 'register an application; a secret is shown this one time', {
    options: OPTIONS,
    show: async (service, options) => {
      const client = await newClient(options);
      const added = await (await service.get(ClientsService)).add(client);
      return thing(added, [added.client_id]);
    },
  }),
  onService('remove', 'remove an application; its tokens are refused from now on', {
    args: [ID],
    run: async (service, id) => {
      await (await service.get(ClientsService)).remove(id);
      say(`removed ${id}`);
    },
  }),
]);

async function newClient(options: OptionsOf<typeof OPTIONS>): Promise<NewClient> {
  const { name, redirectUri, postLogoutRedirectUri, audience, scope, jwks, auth } = options;
  const { id, confidential, profile, idTokenAlg, subjectDn, group: bound } = options;
  return {
    name,
    redirectUris: redirectUri,
    postLogoutRedirectUris: postLogoutRedirectUri,
    ...given({ id, confidential, profile, authentication: auth, idTokenAlg, subjectDn }),
    ...given({ group: bound, jwks: jwks === undefined ? undefined : await keysOf(jwks) }),
    ...(audience.length > 0 && { audiences: audience }),
    ...(scope.length > 0 && { scopes: scope }),
  };
}

async function keysOf(file: string): Promise<JsonObject> {
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
