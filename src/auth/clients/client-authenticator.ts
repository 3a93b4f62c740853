import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { labelRequest, type HttpRequest } from '#src/platform/index.js';
import type { Client } from '#src/registry/index.js';
import type { OAuthParameters } from '../protocol/oauth-parameters.js';
import { ClientsService } from './clients.service.js';

interface Credentials {
  id: string;
  secret: string | undefined;
  isBasic: boolean;
}

/** Tells which application calls (RFC 6749 §2.3): by its secret, or by its client_id when it is public. */
@Injectable()
export class ClientAuthenticator {
  constructor(private readonly clients: ClientsService) {}

  /**
   * The application of a request. Throws 400 `invalid_request` without a client_id or with two ways of
   * authentication, 401 `invalid_client` for an unknown application or a wrong or missing secret.
   */
  async authenticate(parameters: OAuthParameters, request: HttpRequest): Promise<Client> {
    const credentials = credentialsOf(parameters, request);
    if (!credentials) {
      throw new OAuthProblem('invalid_request', 'The parameter client_id is missing');
    }
    return this.check(credentials, request);
  }

  /** Like `authenticate`, but undefined when the request names no application. */
  async find(parameters: OAuthParameters, request: HttpRequest): Promise<Client | undefined> {
    const credentials = credentialsOf(parameters, request);
    return credentials && this.check(credentials, request);
  }

  private async check(credentials: Credentials, request: HttpRequest): Promise<Client> {
    const client = await this.clients.find(credentials.id);
    if (!client || !this.isProved(client, credentials)) {
      throw refused(credentials.isBasic);
    }
    labelRequest(request, { client: client.id });
    return client;
  }

  private isProved(client: Client, { secret }: Credentials): boolean {
    if (!client.confidential) return secret === undefined;
    return secret !== undefined && this.clients.isSecretOf(client, secret);
  }
}

function credentialsOf(parameters: OAuthParameters, request: HttpRequest): Credentials | undefined {
  const basic = basicCredentials(request.headers.authorization);
  const id = parameters.optional('client_id');
  const secret = parameters.optional('client_secret');
  if (!basic) return id === undefined ? undefined : { id, secret, isBasic: false };
  if (secret !== undefined || (id !== undefined && id !== basic.id)) {
    throw new OAuthProblem(
      'invalid_request',
      'Authenticate in the header or in the body, not both',
    );
  }
  return basic;
}

/** Credentials of a Basic header, form-decoded as RFC 6749 §2.3.1 says; undefined for any other scheme. */
function basicCredentials(header: string | undefined): Credentials | undefined {
  const match = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header ?? '');
  if (!match) return undefined;
  const text = Buffer.from(match[1] ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw refused(true);
  const secret = formDecoded(text.slice(colon + 1));
  return {
    id: formDecoded(text.slice(0, colon)),
    secret: secret === '' ? undefined : secret,
    isBasic: true,
  };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refused(true);
  }
}

function refused(isBasic: boolean): OAuthProblem {
  return new OAuthProblem('invalid_client', 'The application is unknown or did not prove itself', {
    status: 401,
    code: 'auth.client-unknown',
    ...(isBasic && { headers: { 'WWW-Authenticate': 'Basic realm="gridgate"' } }),
  });
}
