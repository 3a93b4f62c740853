import { readFile } from 'node:fs/promises';
import { EncodingError, utf8Text, type Clock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { RegistryService } from '#src/registry/index.js';
import type { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';
import { unverifiedClaims } from '../verify/token-verifier.js';
import {
  IdProvidersFileError,
  parseIdProvidersFile,
  type IdProviderEntry,
} from './id-providers-file.js';
import type { LoginSessionsRepository } from './login-sessions.repository.js';
import { RegistryGroups, RegistryIdProvider } from './registry-id-provider.js';

/** An identity provider with its name and what it is trusted for. */
export interface NamedIdProvider extends Omit<IdProviderEntry, 'parameters'> {
  readonly provider: OAuth2IdProvider;
}

/** What the providers are made with. */
export interface IdProvidersInput {
  config: Config;
  clock: Clock;
  loginSessions: LoginSessionsRepository;
  registry: RegistryService;
}

/** The identity providers of GRID_ID_PROVIDERS, by name; none without the variable. */
export class IdProvidersService {
  private readonly providers: readonly NamedIdProvider[];
  private readonly groups: RegistryGroups;

  private constructor(
    entries: readonly IdProviderEntry[],
    private readonly input: IdProvidersInput,
  ) {
    this.groups = new RegistryGroups(input.registry);
    this.providers = entries.map((entry) => this.make(entry));
  }

  /** Reads the file. Throws IdProvidersFileError; no provider is spoken to. */
  static async open(input: IdProvidersInput): Promise<IdProvidersService> {
    const { idProvidersFile: path } = input.config;
    const entries = path === undefined ? [] : parseIdProvidersFile(await readText(path));
    return new IdProvidersService(entries, input);
  }

  /** All providers in the order of the file. */
  all(): readonly NamedIdProvider[] {
    return this.providers;
  }

  /** The provider of this name. */
  find(name: string): NamedIdProvider | undefined {
    return this.providers.find((known) => known.name === name);
  }

  /**
   * The providers whose issuer a token names: only a choice of whom to ask, the token is not verified. Makes sure
   * that the groups they map to are those of the registry now.
   */
  async candidatesFor(token: string): Promise<readonly NamedIdProvider[]> {
    if (this.providers.length === 0) return [];
    const issuer = unverifiedClaims(token)?.iss;
    if (typeof issuer !== 'string') return [];
    await this.groups.bringUpToDate();
    const bare = (text: string): string => text.replace(/(?<!\/)\/+$/, '');
    return this.providers.filter(({ provider }) => bare(provider.issuer) === bare(issuer));
  }

  private make({ parameters, ...entry }: IdProviderEntry): NamedIdProvider {
    const { config, clock, loginSessions } = this.input;
    try {
      const provider = new RegistryIdProvider(
        {
          ...parameters,
          redirect_uri: `${config.publicUrl}/oauth2/callback/${encodeURIComponent(entry.name)}`,
          loginSessions,
          clock,
        },
        this.groups,
      );
      return { ...entry, provider };
    } catch (cause) {
      throw new IdProvidersFileError([`${entry.name}: ${(cause as Error).message}`]);
    }
  }
}

async function readText(path: string): Promise<string> {
  try {
    return utf8Text(await readFile(path));
  } catch (cause) {
    if (cause instanceof EncodingError) {
      throw new IdProvidersFileError([`${path}: ${cause.message}`]);
    }
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new IdProvidersFileError([`${path} cannot be read (${code})`]);
  }
}
