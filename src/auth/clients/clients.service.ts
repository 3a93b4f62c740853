import { Inject, Injectable } from '@nestjs/common';
import {
  constantTimeEqual,
  isPlainText,
  Problem,
  randomId,
  randomToken,
  sha256,
  type JsonObject,
  type Violation,
} from '#src/kernel/index.js';
import { Audit, type AuditOrigin } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  AUDIENCE_FORM,
  canonicalDn,
  clientFaults,
  ClientsRepository,
  isAudience,
  redirectUriFault,
  RegistryService,
  STORAGE_CLIENT,
  type Client,
  type ClientProfile,
  type KeyAuthentication,
  type RegistrySnapshot,
} from '#src/registry/index.js';
import { CERTIFICATE_CLIENT, clientOf, isBuiltIn } from './built-in-clients.js';
import { isAdmin, readScope } from '../protocol/grid-scopes.js';

/** `.` and `..` are no part of an address. */
const ID = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,100}$/;

/** What an application is registered with. */
export interface NewClient {
  name: string;
  redirectUris: string[];
  /** Where its users may be sent once they have signed out. */
  postLogoutRedirectUris?: string[];
  /** The client_id; made up when absent. */
  id?: string;
  /** It can keep a secret; also what has an `authentication`. */
  confidential?: boolean;
  /** Services for which it may ask for tokens beside this one, `*` for every one. */
  audiences?: string[];
  profile?: ClientProfile;
  /** Proves itself by this in place of a secret. */
  authentication?: KeyAuthentication;
  /** Public keys or certificates (RFC 7517). */
  jwks?: JsonObject;
  /** DN of its certificate, in any spelling. */
  subjectDn?: string;
  /** Algorithm of its ID tokens in place of that of GRID_SIGNING_ALG. */
  idTokenAlg?: 'RS256';
  /** Scopes of tokens for itself. */
  scopes?: string[];
  /** Group that bounds them. */
  group?: string;
}

/** An application as administrators see it; never with its secret. */
export interface ClientReport {
  client_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris?: string[];
  confidential: boolean;
  audiences?: string[];
  profile: ClientProfile;
  /** `none` of a public one. */
  authentication: 'none' | 'client_secret' | KeyAuthentication;
  /** Absent: that of GRID_SIGNING_ALG. */
  id_token_signed_response_alg?: string;
  /** Of tokens for itself; absent where it may have none. */
  scopes?: string[];
  group?: string;
  origin: string;
}

/** A new application; the secret is shown this one time. */
export interface RegisteredClient {
  client_id: string;
  client_secret?: string;
}

/** Applications: registering, removing, and checking their secrets. */
@Injectable()
export class ClientsService {
  constructor(
    private readonly applications: ClientsRepository,
    private readonly registry: RegistryService,
    @Inject(CONFIG) private readonly config: Config,
    private readonly audit: Audit,
  ) {}

  /** Registers an application. Throws Problem 400 with every fault, 409 when the id is taken. */
  async add(input: NewClient, { request }: AuditOrigin = {}): Promise<RegisteredClient> {
    const { authentication } = input;
    const confidential = input.confidential ?? authentication !== undefined;
    const needsSecret = confidential && authentication === undefined;
    const secret = needsSecret ? randomToken() : undefined;
    const client = clientFrom(input, confidential, secret);
    refuseFaults(input, client, await this.registry.current());
    const { id } = client;
    const added = await this.applications.add(client);
    if (!added) throw new Problem('client.exists', `There is already an application ${id}`);
    this.registry.forget();
    const origin = { ...(request && { request }), actor: { client: id } };
    this.audit.done('client.added', { name: input.name.trim() }, origin);
    return { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
  }

  /** All applications. */
  async list(): Promise<ClientReport[]> {
    return (await this.registry.current()).applications().map(reportOf);
  }

  /** One application. Throws Problem 404. */
  async show(id: string): Promise<ClientReport> {
    return reportOf((await this.registry.current()).client(id) ?? notFound(id));
  }

  /** Removes an application; its tokens are refused from now on. Throws Problem 404. */
  async remove(id: string, { request }: AuditOrigin = {}): Promise<void> {
    if (!(await this.applications.remove(id))) notFound(id);
    this.registry.forget();
    const origin = { ...(request && { request }), actor: { client: id } };
    this.audit.done('client.removed', {}, origin);
  }

  /** The application with this client_id, those that come with the service included. */
  async find(id: string): Promise<Client | undefined> {
    const { publicUrl } = this.config;
    const known = clientOf(await this.registry.current(), id, publicUrl);
    return known ?? clientOf(await this.registry.renewed(), id, publicUrl);
  }

  /** The services that tokens of the application may be for: this one, and those that it was registered with. */
  audiencesOf({ audiences = [] }: Client): string[] {
    return [this.config.publicUrl, ...audiences];
  }

  /** True when the secret is that of the confidential application. */
  isSecretOf(client: Client, secret: string): boolean {
    const { secretHash } = client;
    return secretHash !== undefined && constantTimeEqual(sha256(secret), secretHash);
  }
}

function clientFrom(input: NewClient, confidential: boolean, secret: string | undefined): Client {
  const { profile, authentication, jwks, subjectDn, scopes, group, audiences } = input;
  const { idTokenAlg } = input;
  const given = { profile, authentication, jwks, idTokenAlg, scopes, group };
  return {
    id: input.id ?? randomId(),
    name: input.name.trim(),
    redirectUris: input.redirectUris,
    postLogoutRedirectUris: input.postLogoutRedirectUris ?? [],
    confidential,
    ...(audiences && { audiences: [...new Set(audiences)] }),
    ...(secret !== undefined && { secretHash: sha256(secret) }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(subjectDn !== undefined && { subjectDn: dnOf(subjectDn) }),
    origin: 'command',
  };
}

/** The canonical form; the text itself where it is no DN, which `refuseFaults` finds. */
function dnOf(text: string): string {
  try {
    return canonicalDn(text);
  } catch {
    return '';
  }
}

/** Names of options where they differ from the members of an application. */
const FIELDS: Partial<Record<string, string>> = {
  redirectUris: 'redirect-uri',
  subjectDn: 'subject-dn',
  authentication: 'auth',
  scopes: 'scope',
};

function refuseFaults(input: NewClient, client: Client, registry: RegistrySnapshot): void {
  const { id, name, subjectDn, group, scopes = [], audiences = [] } = client;
  const fault = (field: string, problem: string, isFault: boolean): Violation[] =>
    isFault ? [{ field, problem }] : [];
  const unknown = scopes.filter((scope) => !isOwnScope(scope));
  const violations = [
    ...fault('name', 'must have 1 to 200 characters', name === '' || name.length > 200),
    ...fault('name', 'has control characters or invisible ones', !isPlainText(name)),
    ...fault(
      'id',
      'must be 1 to 100 letters, digits or . _ ~ - and not a reserved word',
      input.id !== undefined && !isFreeId(id),
    ),
    ...fault('id', 'is the subject of a user', registry.userBySub(id) !== undefined),
    ...audiences.flatMap((one) => fault('audience', AUDIENCE_FORM, !isAudience(one))),
    ...uriFaults('redirect-uri', input.redirectUris),
    ...uriFaults('post-logout-redirect-uri', input.postLogoutRedirectUris ?? []),
    ...fault('subject-dn', 'is not a distinguished name', subjectDn === ''),
    ...unknown.map((scope) => ({ field: 'scope', problem: `${scope} is not known` })),
    ...fault('group', `there is no group ${group}`, group !== undefined && !registry.group(group)),
    ...clientFaults(client).map(({ member, problem }) => ({
      field: FIELDS[member ?? 'authentication'] ?? member ?? '',
      problem,
    })),
  ];
  if (violations.length > 0) throw Problem.invalid(violations);
}

function uriFaults(field: string, uris: readonly string[]): Violation[] {
  return uris.flatMap((uri) => {
    const problem = redirectUriFault(uri);
    return problem === undefined ? [] : [{ field, problem: `${uri} ${problem}` }];
  });
}

/** What an application may have for itself: anything but what is said of users, and administration. */
function isOwnScope(word: string): boolean {
  const scope = readScope(word);
  return scope !== undefined && scope.kind !== 'identity' && !isAdmin(scope);
}

function isFreeId(id: string): boolean {
  return ID.test(id) && id !== CERTIFICATE_CLIENT && id !== STORAGE_CLIENT && !isBuiltIn(id);
}

function notFound(id: string): never {
  throw new Problem('client.not-found', `There is no application ${id}`);
}

function reportOf(client: Client): ClientReport {
  const { scopes, group, idTokenAlg } = client;
  return {
    client_id: client.id,
    name: client.name,
    redirect_uris: [...client.redirectUris],
    ...(client.postLogoutRedirectUris && {
      post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    }),
    confidential: client.confidential,
    ...(client.audiences && { audiences: [...client.audiences] }),
    profile: client.profile ?? 'interface',
    authentication: client.authentication ?? (client.confidential ? 'client_secret' : 'none'),
    ...(idTokenAlg && { id_token_signed_response_alg: idTokenAlg }),
    ...(scopes && { scopes: [...scopes] }),
    ...(group !== undefined && { group }),
    origin: client.origin,
  };
}
