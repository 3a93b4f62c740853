import { ApiProperty } from '@nestjs/swagger';

/** Metadata of the service as a resource that takes access tokens (RFC 9728 §2). */
export class ResourceMetadataResponse {
  @ApiProperty({
    description: 'The audience of access tokens for this service',
    example: 'https://localhost:8443',
  })
  resource!: string;

  @ApiProperty({
    description: 'Issuers of the tokens that it takes',
    type: [String],
    example: ['https://localhost:8443'],
  })
  authorization_servers!: string[];

  @ApiProperty({ type: [String], example: ['jobs:read', 'catalogue:read'] })
  scopes_supported!: string[];

  @ApiProperty({
    description: 'RFC 6750 §2; without `query` where GRID_QUERY_TOKEN is off',
    type: [String],
    example: ['header', 'query'],
  })
  bearer_methods_supported!: string[];

  @ApiProperty({ example: 'Gridgate' })
  resource_name!: string;

  @ApiProperty()
  resource_documentation!: string;

  @ApiProperty({ description: 'RFC 8705' })
  tls_client_certificate_bound_access_tokens!: boolean;

  @ApiProperty({ description: 'RFC 9449', type: [String] })
  dpop_signing_alg_values_supported!: string[];

  @ApiProperty({ description: 'False: only some applications need them' })
  dpop_bound_access_tokens_required!: boolean;
}
