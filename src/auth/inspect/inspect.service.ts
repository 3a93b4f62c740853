import { Inject, Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { RegistryService } from '#src/registry/index.js';
import { ConsentsService } from '../stores/consents.service.js';
import { RevocationsRepository } from '../stores/revocations.repository.js';
import { userNameOf } from '../bearer/access-token.js';
import type { InspectForm } from './inspect.request.js';
import { IntrospectionResponse } from './introspection.response.js';
import { TokenInspector } from './token-inspector.js';
import { VerifiedTokens } from '../bearer/bearer-tokens.js';

const SLACK_MS = 120_000;

/** Revocation (RFC 7009) and introspection (RFC 7662). */
@Injectable()
export class InspectService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly inspector: TokenInspector,
    private readonly consents: ConsentsService,
    private readonly revocations: RevocationsRepository,
    private readonly verified: VerifiedTokens,
    private readonly audit: Audit,
    private readonly registry: RegistryService,
  ) {}

  /**
   * Revokes the token of the request on every instance: an access token alone, a refresh token with its whole family.
   * A token that is unknown or somebody else's is no error (RFC 7009 §2.2).
   */
  async revoke(form: InspectForm, request: HttpRequest): Promise<void> {
    const found = await this.inspector.inspect(form, request);
    if (!found) return;
    if (found.kind === 'refresh_token') {
      const { id, user, group, setup, clientId: client } = found.consent;
      await this.consents.revoke(id);
      const details = { kind: found.kind, consent: id };
      this.audit.done('token.revoked', details, { request, actor: { user, group, setup, client } });
      return;
    }
    const { jti, exp, group, setup, client_id: client } = found.claims;
    const user = userNameOf(found.claims);
    await this.revocations.add(jti, new Date(exp * 1000 + SLACK_MS));
    this.verified.forget(jti);
    const details = { kind: found.kind, tokenId: jti };
    this.audit.done('token.revoked', details, { request, actor: { user, group, setup, client } });
  }

  /** What the token of the request is worth now; `{"active": false}` says nothing more. */
  async introspect(form: InspectForm, request: HttpRequest): Promise<IntrospectionResponse> {
    const found = await this.inspector.inspect(form, request);
    if (!found) return { active: false };
    if (found.kind === 'access_token') {
      const isGood = await this.verified.holder(form.token);
      return isGood ? IntrospectionResponse.ofAccessToken(found.claims) : { active: false };
    }
    const user = (await this.registry.current()).userByName(found.consent.user);
    if (!found.isLive || user?.sub === undefined) return { active: false };
    const { publicUrl: iss } = this.config;
    return IntrospectionResponse.ofRefreshToken(found.consent, { sub: user.sub, iss });
  }
}
