import { Controller, Get, Inject } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CONFIG, type Config } from '#src/config/index.js';
import { Cached } from '#src/http/index.js';
import { ID_TOKEN_ALGORITHMS, KEY_AUTHENTICATIONS } from '#src/registry/index.js';
import { Access } from '../access/access.decorator.js';
import { ASSERTION_ALGORITHMS, STRONG_ALGORITHMS } from '../possession/signature-algorithms.js';
import { AUTHENTICATION_CLASSES } from '../protocol/authentication.js';
import { scopesOfRoutes, supportedScopes } from '../protocol/grid-scopes.js';
import { PROMPTS } from '../protocol/prompts.js';
import { TokenService } from '../token/token.service.js';
import { MetadataResponse } from './metadata.response.js';
import { ResourceMetadataResponse } from './resource-metadata.response.js';

/** Of ID tokens, and of the answer at userinfo_endpoint. */
const CLAIMS = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'acr',
  'at_hash',
  'sid',
  'name',
  'preferred_username',
  'email',
  'email_verified',
];
const CLIENT_AUTHENTICATION = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  ...KEY_AUTHENTICATIONS,
];

/** The descriptions of the authorization server, and of the service as a resource that takes its tokens. */
@ApiTags('authorization')
@Controller('.well-known')
export class MetadataController {
  constructor(
    private readonly tokens: TokenService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * What this authorization server can do (RFC 8414).
   *
   * @remarks Endpoints, grant types, scopes and ways of authentication.
   */
  @Get('oauth-authorization-server')
  @Access('open')
  @Cached(300)
  describeServer(): MetadataResponse {
    return this.metadata();
  }

  /**
   * The same, where OpenID Connect looks for it (Discovery §4).
   *
   * @remarks The document of RFC 8414 with the members of OpenID Connect.
   */
  @Get('openid-configuration')
  @Access('open')
  @Cached(300)
  describeProvider(): MetadataResponse {
    return this.metadata();
  }

  /**
   * Which tokens this service takes, where from, and how (RFC 9728).
   *
   * @remarks Names the authorization server and the scopes, for clients that begin with an answer 401.
   */
  @Get('oauth-protected-resource')
  @Access('open')
  @Cached(300)
  describeResource(): ResourceMetadataResponse {
    const server = this.metadata();
    return {
      resource: server.issuer,
      authorization_servers: [server.issuer],
      scopes_supported: scopesOfRoutes(),
      bearer_methods_supported: this.config.queryToken ? ['header', 'query'] : ['header'],
      resource_name: 'Gridgate',
      resource_documentation: server.service_documentation,
      tls_client_certificate_bound_access_tokens: server.tls_client_certificate_bound_access_tokens,
      dpop_signing_alg_values_supported: server.dpop_signing_alg_values_supported,
      dpop_bound_access_tokens_required: false,
    };
  }

  private metadata(): MetadataResponse {
    const issuer = this.config.publicUrl;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth2/auth`,
      userinfo_endpoint: `${issuer}/oauth2/userinfo`,
      token_endpoint: `${issuer}/oauth2/token`,
      end_session_endpoint: `${issuer}/oauth2/logout`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/oauth2/revoke`,
      introspection_endpoint: `${issuer}/oauth2/introspect`,
      device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [this.config.signingAlgorithm, ...ID_TOKEN_ALGORITHMS],
      claims_supported: CLAIMS,
      acr_values_supported: Object.values(AUTHENTICATION_CLASSES),
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false, // it is true where nothing is said
      prompt_values_supported: [...PROMPTS],
      scopes_supported: supportedScopes(),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: this.tokens.grantTypes(),
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      token_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
      revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      revocation_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
      introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      introspection_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
      pushed_authorization_request_endpoint: `${issuer}/oauth2/par`,
      require_pushed_authorization_requests: false,
      dpop_signing_alg_values_supported: [...STRONG_ALGORITHMS],
      tls_client_certificate_bound_access_tokens: true,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
      protected_resources: [issuer],
    };
  }
}
