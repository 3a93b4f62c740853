import { ApiProperty } from '@nestjs/swagger';

/** Authorization server metadata (RFC 8414 §2, OpenID Connect Discovery §3). */
export class MetadataResponse {
  @ApiProperty({ example: 'https://localhost:8443' })
  issuer!: string;

  @ApiProperty()
  authorization_endpoint!: string;

  @ApiProperty()
  userinfo_endpoint!: string;

  @ApiProperty()
  token_endpoint!: string;

  @ApiProperty()
  end_session_endpoint!: string;

  @ApiProperty()
  jwks_uri!: string;

  @ApiProperty()
  revocation_endpoint!: string;

  @ApiProperty()
  introspection_endpoint!: string;

  @ApiProperty()
  device_authorization_endpoint!: string;

  @ApiProperty({ type: [String], example: ['public'] })
  subject_types_supported!: string[];

  @ApiProperty({ type: [String], example: ['ES256'] })
  id_token_signing_alg_values_supported!: string[];

  @ApiProperty({ type: [String] })
  claims_supported!: string[];

  @ApiProperty({ type: [String] })
  acr_values_supported!: string[];

  @ApiProperty()
  claims_parameter_supported!: boolean;

  @ApiProperty()
  request_parameter_supported!: boolean;

  @ApiProperty()
  request_uri_parameter_supported!: boolean;

  @ApiProperty({ type: [String] })
  prompt_values_supported!: string[];

  @ApiProperty({ type: [String] })
  scopes_supported!: string[];

  @ApiProperty({ type: [String] })
  response_types_supported!: string[];

  @ApiProperty({ type: [String] })
  response_modes_supported!: string[];

  @ApiProperty({ type: [String] })
  grant_types_supported!: string[];

  @ApiProperty({ type: [String] })
  code_challenge_methods_supported!: string[];

  @ApiProperty({ type: [String] })
  token_endpoint_auth_methods_supported!: string[];

  @ApiProperty({ type: [String] })
  token_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty({ type: [String] })
  revocation_endpoint_auth_methods_supported!: string[];

  @ApiProperty({ type: [String] })
  revocation_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty({ type: [String] })
  introspection_endpoint_auth_methods_supported!: string[];

  @ApiProperty({ type: [String] })
  introspection_endpoint_auth_signing_alg_values_supported!: string[];

  @ApiProperty({ description: 'RFC 9126' })
  pushed_authorization_request_endpoint!: string;

  @ApiProperty({ description: 'True of applications with the profile `fapi2` only' })
  require_pushed_authorization_requests!: boolean;

  @ApiProperty({ description: 'RFC 9449', type: [String] })
  dpop_signing_alg_values_supported!: string[];

  @ApiProperty({ description: 'RFC 8705' })
  tls_client_certificate_bound_access_tokens!: boolean;

  @ApiProperty({ description: 'RFC 9207' })
  authorization_response_iss_parameter_supported!: boolean;

  @ApiProperty()
  service_documentation!: string;

  @ApiProperty({ description: 'RFC 9728 §4', type: [String] })
  protected_resources!: string[];
}
