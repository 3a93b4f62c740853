import { yamlFile } from '#src/registry/index.js';
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

/** Keywords of the session, of which the provider itself says what is wrong with them. */
const PARAMETERS = [
  ...['ProviderType', 'server_metadata_url', 'jwks', 'overrides', 'audience', 'dnPrefix', 'vos'],
  ...['entitlements', 'attributes', 'algorithms', 'tolerance', 'allowedOrigins', 'client_secret'],
  ...['scope', 'token_endpoint_auth_method', 'revocation_endpoint_auth_method', 'pushed', 'dpop'],
  ...['rawBasic', 'verify', 'proxies', 'trust_env', 'default_timeout', 'headers'],
];
const TEXT = { type: 'string' };
const FLAGS = {
  login: { type: 'boolean', default: true },
  acceptTokens: { type: 'boolean', default: false },
  exchangeTokens: { type: 'boolean', default: false },
};
const ENTRY = {
  ...yamlFile.map(
    {
      ...{ title: TEXT, setup: TEXT, ...FLAGS, issuer: TEXT, client_id: TEXT },
      ...Object.fromEntries(PARAMETERS.map((name) => [name, {}])),
    },
    ['issuer', 'client_id'],
  ),
  type: 'object',
  ifNull: undefined,
  fits: audienceFault,
};
const check = yamlFile.checkByFile({
  type: 'object',
  propertyNames: yamlFile.formed(/^[A-Za-z0-9._-]{1,64}$/, 'is no name (letters, digits, . _ -)'),
  additionalProperties: ENTRY,
});

type Entry = Pick<IdProviderEntry, keyof typeof FLAGS> & { title?: string; setup?: string };

/**
 * Reads the YAML text of GRID_ID_PROVIDERS: a map from name to entry, with the keywords of OAuth2IdProvider and
 * `title, login, acceptTokens, exchangeTokens, setup`. Throws IdProvidersFileError with every fault.
 */
export function parseIdProvidersFile(text: string): IdProviderEntry[] {
  try {
    const { value, namesOf } = yamlFile.readYaml(text, check);
    const file = value as Record<string, Entry & ProviderParameters>;
    return namesOf().map((name) => entryOf(name, file[name] as (typeof file)[string]));
  } catch (error) {
    if (!(error instanceof yamlFile.YamlFileError)) throw error;
    throw new IdProvidersFileError(error.message.split('\n'));
  }
}

function entryOf(
  name: string,
  { title = name, setup, ...entry }: Entry & ProviderParameters,
): IdProviderEntry {
  const { login, acceptTokens, exchangeTokens, ...parameters } = entry;
  const flags = { login, acceptTokens, exchangeTokens };
  return { name, title, ...flags, setup, parameters: { ...parameters, ProviderName: name } };
}

/** Without an audience every token of the provider would open this service, ID tokens of its clients included. */
function audienceFault(entry: (Partial<Entry> & ProviderParameters) | null): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  if (!entry.acceptTokens && !entry.exchangeTokens) return undefined;
  const { audience, client_id: clientId } = entry;
  const audiences = [audience ?? []].flat();
  if (audiences.length === 0) return 'audience is needed to accept or exchange tokens';
  return clientId && audiences.includes(clientId)
    ? 'audience must not be the client_id, which is the audience of ID tokens'
    : undefined;
}
