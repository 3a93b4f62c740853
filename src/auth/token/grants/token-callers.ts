import { Injectable } from '@nestjs/common';
import type { HttpRequest } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import type { Confirmation } from '../../possession/confirmation.js';
import { SenderConstraint } from '../../possession/sender-constraint.js';

/** The application that asks for tokens, and to what they are bound. */
export interface TokenCaller {
  client: Client;
  confirmation: Confirmation | undefined;
}

/** Who calls the token endpoint for a user. */
@Injectable()
export class TokenCallers {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly constraint: SenderConstraint,
  ) {}

  /** Throws OAuthProblem where the application does not prove itself, or its key. */
  async authenticate(
    form: Parameters<ClientAuthenticator['authenticate']>[0],
    request: HttpRequest,
  ): Promise<TokenCaller> {
    const client = await this.clients.authenticate(form, request);
    return { client, confirmation: await this.constraint.of(client, request) };
  }
}
