import { Inject, Injectable } from '@nestjs/common';
import {
  OAuthProblem,
  randomToken,
  sha256,
  type Clock,
  type OAuthErrorCode,
  CLOCK,
} from '#src/kernel/index.js';
import { QueryValues, type HttpRequest } from '#src/http/index.js';
import { ClientAuthenticator } from '../clients/client-authenticator.js';
import { DpopRequests } from '../possession/dpop-requests.js';
import { PushedRequestsRepository } from '../stores/pushed-requests.repository.js';
import { AuthorizationError } from './authorization-error.js';
import { UnprovedRequestError } from './authorization-request.js';
import { AuthorizeService } from './authorize.service.js';
import type { PushedRequestForm } from './pushed-request.request.js';
import type { PushedRequestResponse } from './pushed-request.response.js';

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
/** RFC 9126 §2.2: between 5 and 600 seconds; the redirect of a browser takes a moment. */
const PUSHED_SECONDS = 90;
/** For signing in and deciding, which begins with the first visit. */
const OPENED_SECONDS = 1800;

/** What a parameter has been read as. */
type Value = string | number | string[] | undefined;

const OF_THE_CALLER = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];

/** Pushed authorization requests (RFC 9126): what is asked for does not pass through the browser. */
@Injectable()
export class PushedRequestsService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly clients: ClientAuthenticator,
    private readonly authorize: AuthorizeService,
    private readonly requests: PushedRequestsRepository,
    private readonly dpop: DpopRequests,
  ) {}

  /**
   * Keeps a request for its application, checked like one at /oauth2/auth. With a DPoP proof the code will be bound to its
   * key (RFC 9449 §10.1). Throws OAuthProblem with the errors of /oauth2/auth, 401 `invalid_client`.
   */
  async push(form: PushedRequestForm, request: HttpRequest): Promise<PushedRequestResponse> {
    const thumbprint = await this.dpop.thumbprintOf(request);
    const client = await this.clients.authenticate(form, request);
    const { dpop_jkt: named = thumbprint, redirect_uri: redirectUri, state } = form;
    if (thumbprint !== undefined && named !== thumbprint) {
      throw new OAuthProblem('invalid_dpop_proof', 'dpop_jkt is not the key of the DPoP proof');
    }
    if (client.profile === 'fapi2' && redirectUri === undefined) {
      throw new OAuthProblem('invalid_request', 'The parameter redirect_uri is missing');
    }
    await inWordsOfTheProtocol(async () => {
      const target = {
        client_id: client.id,
        redirect_uri: redirectUri === undefined ? [] : [redirectUri],
        ...(state !== undefined && { state }),
      };
      const proved = { ...(await this.authorize.prove(target)), pushed: '' };
      await this.authorize.check(proved, form);
    });
    return this.keep(client.id, { ...form, ...(named !== undefined && { dpop_jkt: named }) });
  }

  /**
   * What was pushed under the `request_uri` of a request at /oauth2/auth, with the key to consume it; undefined when the
   * request names none. Throws UnprovedRequestError for one that is unknown, used, too old or of another application.
   */
  async open(values: QueryValues): Promise<{ key: string; values: QueryValues } | undefined> {
    const [uri, ...more] = values.all('request_uri');
    if (!uri?.startsWith(PREFIX)) return undefined; // AuthorizationQuery refuses any other
    const key = sha256(uri);
    const now = this.clock.now();
    const times = { now: new Date(now), end: new Date(now + OPENED_SECONDS * 1000) };
    const [clientId, ...others] = values.all('client_id');
    const found =
      more.length + others.length === 0 ? await this.requests.open(key, times) : undefined;
    if (found === undefined || found.clientId !== clientId) {
      throw new UnprovedRequestError('request_uri is unknown, used or too old.');
    }
    return { key, values: new QueryValues(found.parameters) };
  }

  private async keep(clientId: string, form: object): Promise<PushedRequestResponse> {
    const uri = `${PREFIX}${randomToken()}`;
    const sent = Object.entries(form).flatMap(
      ([name, value]: [string, Value]): [string, string][] =>
        OF_THE_CALLER.includes(name) || value === undefined
          ? []
          : [value].flat().map((one) => [name, String(one)]),
    );
    await this.requests.add({
      hash: sha256(uri),
      clientId,
      parameters: new URLSearchParams([['client_id', clientId], ...sent]).toString(),
      openedAt: null,
      expiresAt: new Date(this.clock.now() + PUSHED_SECONDS * 1000),
    });
    return { request_uri: uri, expires_in: PUSHED_SECONDS };
  }
}

/** What a page or a redirect would tell is told the application itself here (RFC 9126 §2.3). */
async function inWordsOfTheProtocol(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UnprovedRequestError) {
      throw new OAuthProblem('invalid_request', error.reason);
    }
    if (!(error instanceof AuthorizationError)) throw error;
    throw new OAuthProblem(error.error as OAuthErrorCode, error.description);
  }
}
