import { Controller, Get, Header, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CONFIG, type Config } from '#src/platform/index.js';
import { Access } from '../access/access.decorator.js';
import { SCOPES } from '../protocol/scopes.js';
import { TokenService } from '../token/token.service.js';
import { MetadataResponse } from './metadata.response.js';

const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'];

/** The description of the authorization server. */
@ApiTags('authorization')
@Controller('.well-known')
export class MetadataController {
  constructor(
    private readonly tokens: TokenService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('oauth-authorization-server')
  @Access('open')
  @Header('Cache-Control', 'public, max-age=300')
  @ApiOperation({ summary: 'What this authorization server can do (RFC 8414)' })
  @ApiOkResponse({ type: MetadataResponse })
  describeServer(): MetadataResponse {
    const issuer = this.config.publicUrl;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth2/auth`,
      token_endpoint: `${issuer}/oauth2/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/oauth2/revoke`,
      introspection_endpoint: `${issuer}/oauth2/introspect`,
      device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
      scopes_supported: [...SCOPES],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: this.tokens.grantTypes(),
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer}/docs`,
    };
  }
}
