import { parseDocument } from 'yaml';
import { isJsonObject, type JsonObject } from '#src/kernel/index.js';
import type { ProviderParameters } from '../provider/provider-settings.js';

/** What the file of identity providers says of one. */
export interface IdProviderEntry {
  name: string;
  /** On the sign-in page. */
  title: string;
  /** Users may sign in through it; default true. */
  login: boolean;
  /** Its access tokens are accepted as bearer tokens; default false. */
  acceptTokens: boolean;
  /** Its access tokens may be exchanged for ours (RFC 8693); default false. */
  exchangeTokens: boolean;
  /** Setup of its tokens when the caller names none. */
  setup: string | undefined;
  parameters: ProviderParameters;
}

/** The file of identity providers cannot be used; each line names the place and the fault. */
export class IdProvidersFileError extends Error {
  constructor(faults: string[]) {
    super(faults.map((fault) => `GRID_ID_PROVIDERS: ${fault}`).join('\n'));
    this.name = 'IdProvidersFileError';
  }
}

const TEXTS = ['title', 'setup'] as const;
const FLAGS = ['login', 'acceptTokens', 'exchangeTokens'] as const;
const PARAMETERS = [
  'ProviderType',
  'issuer',
  'server_metadata_url',
  'jwks',
  'overrides',
  'audience',
  'dnPrefix',
  'vos',
  'entitlements',
  'attributes',
  'algorithms',
  'tolerance',
  'allowedOrigins',
  'client_id',
  'client_secret',
  'scope',
  'token_endpoint_auth_method',
  'revocation_endpoint_auth_method',
  'pushed',
  'dpop',
  'rawBasic',
  'verify',
  'proxies',
  'trust_env',
  'default_timeout',
  'headers',
];
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Reads the YAML text of GRID_ID_PROVIDERS: a map from name to entry, with the keywords of OAuth2IdProvider and
 * `title, login, acceptTokens, exchangeTokens, setup`. Throws IdProvidersFileError with every fault.
 */
export function parseIdProvidersFile(text: string): IdProviderEntry[] {
  const document = parseDocument(text, { stringKeys: true, uniqueKeys: true });
  const [broken] = document.errors;
  if (broken) throw new IdProvidersFileError([broken.message.split('\n')[0] ?? 'is no YAML']);
  const file: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isJsonObject(file)) throw new IdProvidersFileError(['must be a map of names']);
  const faults: string[] = [];
  // An object has whole numbers first; the order is that of the sign-in page.
  const inOrder = document.toJS({ mapAsMap: true, maxAliasCount: 100 }) as Map<
    string,
    unknown
  > | null;
  const entries = [...(inOrder?.keys() ?? [])].flatMap((name) => {
    const value = file[name];
    if (!NAME.test(name)) faults.push(`${name}: is no name (letters, digits, . _ -)`);
    if (isJsonObject(value)) return [readEntry(name, value, faults)];
    faults.push(`${name}: must be a map`);
    return [];
  });
  if (faults.length > 0) throw new IdProvidersFileError(faults);
  return entries;
}

function readEntry(name: string, value: JsonObject, faults: string[]): IdProviderEntry {
  const known: string[] = [...TEXTS, ...FLAGS, ...PARAMETERS];
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) faults.push(`${name}.${key}: is not known here`);
  }
  for (const key of ['issuer', 'client_id'] as const) {
    if (typeof value[key] !== 'string') faults.push(`${name}.${key}: must be text`);
  }
  const parameters = Object.fromEntries(
    Object.entries(value).filter(([key]) => PARAMETERS.includes(key)),
  ) as ProviderParameters;
  const flag = (key: (typeof FLAGS)[number], fallback: boolean): boolean => {
    const given = value[key] ?? fallback;
    if (typeof given !== 'boolean') faults.push(`${name}.${key}: must be true or false`);
    return given === true;
  };
  const word = (key: (typeof TEXTS)[number]): string | undefined => {
    const given = value[key];
    if (given !== undefined && typeof given !== 'string')
      faults.push(`${name}.${key}: must be text`);
    return typeof given === 'string' ? given : undefined;
  };
  const entry = {
    name,
    title: word('title') ?? name,
    login: flag('login', true),
    acceptTokens: flag('acceptTokens', false),
    exchangeTokens: flag('exchangeTokens', false),
    setup: word('setup'),
    parameters: { ...parameters, ProviderName: name },
  };
  faults.push(...audienceFaults(entry));
  return entry;
}

/** Without an audience every token of the provider would open this service, ID tokens of its clients included. */
function audienceFaults(entry: IdProviderEntry): string[] {
  if (!entry.acceptTokens && !entry.exchangeTokens) return [];
  const { audience, client_id: clientId } = entry.parameters;
  const audiences = [audience ?? []].flat();
  if (audiences.length === 0) {
    return [`${entry.name}.audience: is needed to accept or exchange tokens`];
  }
  if (clientId && audiences.includes(clientId)) {
    return [
      `${entry.name}.audience: must not be the client_id, which is the audience of ID tokens`,
    ];
  }
  return [];
}
