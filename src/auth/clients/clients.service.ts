import { Inject, Injectable } from '@nestjs/common';
import { constantTimeEqual, Problem, randomId, randomToken, sha256 } from '#src/kernel/index.js';
import { Audit, CONFIG, type Config } from '#src/platform/index.js';
import {
  ClientsRepository,
  redirectUriFault,
  RegistryService,
  type Client,
} from '#src/registry/index.js';
import { CERTIFICATE_CLIENT } from './built-in-clients.js';
import { clientOf, isBuiltIn } from './built-in-clients.js';

const ID = /^[A-Za-z0-9._~-]{1,100}$/;

/** What an application is registered with. */
export interface NewClient {
  name: string;
  redirectUris: string[];
  /** The client_id; made up when absent. */
  id?: string;
  confidential?: boolean;
}

/** An application as administrators see it; never with its secret. */
export interface ClientReport {
  client_id: string;
  name: string;
  redirect_uris: string[];
  confidential: boolean;
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
  async add(input: NewClient): Promise<RegisteredClient> {
    refuseFaults(input);
    const id = input.id ?? randomId();
    const confidential = input.confidential ?? false;
    const secret = confidential ? randomToken() : undefined;
    const added = await this.applications.add({
      id,
      name: input.name.trim(),
      redirectUris: input.redirectUris,
      confidential,
      ...(secret !== undefined && { secretHash: sha256(secret) }),
      origin: 'command',
    });
    if (!added) throw new Problem('client.exists', `There is already an application ${id}`);
    this.registry.forget();
    this.audit.done('client.added', { name: input.name.trim() }, { actor: { client: id } });
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
  async remove(id: string): Promise<void> {
    if (!(await this.applications.remove(id))) notFound(id);
    this.registry.forget();
    this.audit.done('client.removed', {}, { actor: { client: id } });
  }

  /** The application with this client_id, those that come with the service included. */
  async find(id: string): Promise<Client | undefined> {
    const { publicUrl } = this.config;
    const known = clientOf(await this.registry.current(), id, publicUrl);
    return known ?? clientOf(await this.registry.renewed(), id, publicUrl);
  }

  /** True when the secret is that of the confidential application. */
  isSecretOf(client: Client, secret: string): boolean {
    const { secretHash } = client;
    return secretHash !== undefined && constantTimeEqual(sha256(secret), secretHash);
  }
}

function refuseFaults(input: NewClient): void {
  const name = input.name.trim();
  const violations = [
    ...(name === '' || name.length > 200
      ? [{ field: 'name', problem: 'must have 1 to 200 characters' }]
      : []),
    ...(input.id === undefined || isFreeId(input.id)
      ? []
      : [
          {
            field: 'id',
            problem: 'must be 1 to 100 letters, digits or . _ ~ - and not a reserved word',
          },
        ]),
    ...input.redirectUris.flatMap((uri) => {
      const problem = redirectUriFault(uri);
      return problem === undefined ? [] : [{ field: 'redirect-uri', problem: `${uri} ${problem}` }];
    }),
  ];
  if (violations.length > 0) throw Problem.invalid(violations);
}

function isFreeId(id: string): boolean {
  return ID.test(id) && id !== CERTIFICATE_CLIENT && !isBuiltIn(id);
}

function notFound(id: string): never {
  throw new Problem('client.not-found', `There is no application ${id}`);
}

function reportOf(client: Client): ClientReport {
  return {
    client_id: client.id,
    name: client.name,
    redirect_uris: [...client.redirectUris],
    confidential: client.confidential,
    origin: client.origin,
  };
}
