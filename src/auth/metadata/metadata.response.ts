import { ApiProperty } from '@nestjs/swagger';

/** Authorization server metadata (RFC 8414 §2). */
export class MetadataResponse {
  @ApiProperty({ example: 'https://localhost:8443' })
  issuer!: string;

  @ApiProperty()
  authorization_endpoint!: string;

  @ApiProperty()
  token_endpoint!: string;

  @ApiProperty()
  jwks_uri!: string;

  @ApiProperty()
  revocation_endpoint!: string;

  @ApiProperty()
  introspection_endpoint!: string;

  @ApiProperty()
  device_authorization_endpoint!: string;

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
  revocation_endpoint_auth_methods_supported!: string[];

  @ApiProperty({ type: [String] })
  introspection_endpoint_auth_methods_supported!: string[];

  @ApiProperty({ description: 'RFC 9207' })
  authorization_response_iss_parameter_supported!: boolean;

  @ApiProperty()
  service_documentation!: string;
}
