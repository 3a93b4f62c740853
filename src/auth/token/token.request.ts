import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Form of the token endpoint; which members are needed depends on `grant_type`, unknown ones are ignored. */
export class TokenForm {
  @ApiProperty({ example: 'client_credentials', maxLength: 100 })
  grant_type!: string;

  @ApiPropertyOptional({ description: 'Certificate flow and token exchange', example: 'grid_user' })
  group?: string;

  @ApiPropertyOptional({ description: 'Certificate flow and token exchange', example: 'Prod' })
  setup?: string;

  @ApiPropertyOptional({ description: 'Words separated by blanks', example: 'jobs:read' })
  scope?: string;

  @ApiPropertyOptional({ description: 'Code exchange: the code of the redirect' })
  code?: string;

  @ApiPropertyOptional({ description: 'Code exchange: as sent in the first step, if it was' })
  redirect_uri?: string;

  @ApiPropertyOptional({ example: 'demo-portal' })
  client_id?: string;

  @ApiPropertyOptional({ description: 'Secret of a confidential application' })
  client_secret?: string;

  @ApiPropertyOptional({ description: 'PKCE (RFC 7636)' })
  code_verifier?: string;

  @ApiPropertyOptional({ description: 'Renewal: the refresh token' })
  refresh_token?: string;

  @ApiPropertyOptional({ description: 'Device flow (RFC 8628): the device code' })
  device_code?: string;

  @ApiPropertyOptional({ description: 'Token exchange (RFC 8693): the token of the provider' })
  subject_token?: string;

  @ApiPropertyOptional({ example: 'urn:ietf:params:oauth:token-type:access_token' })
  subject_token_type?: string;
}
