import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { labelRequest, queryValuesOf, type HttpRequest } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { ClientAssertions, JWT_BEARER, subjectOfAssertion } from './client-assertions.js';
import { ClientCertificates } from './client-certificates.js';
import { isStrict } from '../protocol/client-profile.js';
import { RateLimits } from '../protocol/rate-limits.js';
import type { ClientForm } from './client.request.js';
import { ClientsService } from './clients.service.js';

interface Credentials {
  id: string;
  secret?: string | undefined;
  assertion?: string;
  isBasic: boolean;
}

/**
 * Tells which application calls: by its secret (RFC 6749 §2.3), a JWT that it has signed (RFC 7523), its certificate
 * (RFC 8705), or by its client_id alone when it is public. Each proves itself in the way that it is registered with.
 */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly clients: ClientsService,
    private readonly assertions: ClientAssertions,
    private readonly certificates: ClientCertificates,
    private readonly limits: RateLimits,
  ) {}

  /**
   * The application of a request. Throws 400 `invalid_request` without a client_id, with two ways of authentication or
   * with parameters in a place that its profile does not permit, 401 `invalid_client` for an unknown application or one
   * that did not prove itself, 429 for one that asks too often: it is counted when it has proved itself, so that nobody
   * else uses up what it may, and may send the same assertion again. Whoever says to be a public one is counted by address
   * alone.
   */
  async authenticate(form: ClientForm, request: HttpRequest): Promise<Client> {
    const credentials = credentialsOf(form, request);
    if (!credentials) {
      throw new OAuthProblem('invalid_request', 'The parameter client_id is missing');
    }
    const client = await this.check(credentials, request);
    if (client.confidential) await this.count(client, credentials);
    return client;
  }

  /** Like `authenticate`, but undefined when the request names no application; not counted. */
  async find(form: ClientForm, request: HttpRequest): Promise<Client | undefined> {
    const credentials = credentialsOf(form, request);
    return credentials && this.check(credentials, request);
  }

  /**
   * The application that the request names, whether it proves itself or not; undefined when it names none that is known.
   * Throws 400 `invalid_request` and 401 `invalid_client` for two ways of authentication and for an assertion that names
   * nobody; nothing for any other fault of its authentication.
   */
  async named(form: ClientForm, request: HttpRequest): Promise<Client | undefined> {
    const id = idIn(form, request);
    return id === undefined ? undefined : this.clients.find(id);
  }

  private async count(client: Client, { assertion }: Credentials): Promise<void> {
    try {
      await this.limits.countClient('token', client.id);
    } catch (error) {
      if (assertion !== undefined) await this.assertions.forget(client, assertion);
      throw error;
    }
  }

  private async check(credentials: Credentials, request: HttpRequest): Promise<Client> {
    const client = await this.clients.find(credentials.id);
    if (!client) throw refused(credentials.isBasic);
    try {
      await this.requireProof(client, credentials, request);
    } catch (error) {
      labelRequest(request, { claimedClient: client.id });
      throw error;
    }
    labelRequest(request, { client: client.id });
    if (
      isStrict(client) &&
      (request.method === 'GET' || queryValuesOf(request).keys().length > 0)
    ) {
      const detail = 'Send the parameters of this application by POST, in the form alone';
      throw new OAuthProblem('invalid_request', detail);
    }
    return client;
  }

  private async requireProof(
    client: Client,
    credentials: Credentials,
    request: HttpRequest,
  ): Promise<void> {
    const isGuess = client.confidential && credentials.secret !== undefined;
    if (isGuess) await this.limits.requireGuess(client.id, request);
    if (await this.isProved(client, credentials, request)) return;
    if (isGuess) await this.limits.countGuess(client.id, request);
    throw refused(credentials.isBasic);
  }

  private async isProved(
    client: Client,
    { secret, assertion }: Credentials,
    request: HttpRequest,
  ): Promise<boolean> {
    const { confidential, authentication } = client;
    if (!confidential) return secret === undefined && assertion === undefined;
    if (authentication === undefined) {
      return (
        assertion === undefined && secret !== undefined && this.clients.isSecretOf(client, secret)
      );
    }
    if (secret !== undefined) return false;
    if (authentication === 'private_key_jwt') {
      return assertion !== undefined && this.assertions.isProof(client, assertion, request);
    }
    return assertion === undefined && this.certificates.isProof(client, request);
  }
}

function credentialsOf(form: ClientForm, request: HttpRequest): Credentials | undefined {
  const basic = basicCredentials(request.headers.authorization);
  const { client_id: id, client_secret: secret, client_assertion: assertion } = form;
  if (assertion !== undefined || form.client_assertion_type !== undefined) {
    if (basic || secret !== undefined) throw ambiguous();
    return assertedCredentials(form);
  }
  if (!basic) return id === undefined ? undefined : { id, secret, isBasic: false };
  if (secret !== undefined || (id !== undefined && id !== basic.id)) throw ambiguous();
  return basic;
}

function idIn(form: ClientForm, request: HttpRequest): string | undefined {
  try {
    return credentialsOf(form, request)?.id;
  } catch (error) {
    const isOfHeader = error instanceof OAuthProblem && error.error === 'invalid_client';
    if (isOfHeader && form.client_assertion === undefined) return form.client_id;
    throw error;
  }
}

function ambiguous(): OAuthProblem {
  return new OAuthProblem('invalid_request', 'Authenticate in the header or in the body, not both');
}

/** Who the assertion says it is of; a client_id beside it must say the same (RFC 7521 §4.2). */
function assertedCredentials(form: ClientForm): Credentials {
  const { client_id: id, client_assertion: assertion, client_assertion_type: type } = form;
  if (assertion === undefined || type !== JWT_BEARER) {
    const detail = `Send a client_assertion with the client_assertion_type ${JWT_BEARER}`;
    throw new OAuthProblem('invalid_request', detail);
  }
  const subject = subjectOfAssertion(assertion);
  if (subject === undefined || (id !== undefined && id !== subject)) throw refused(false);
  return { id: subject, assertion, isBasic: false };
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
