import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Form of revocation and introspection. */
export class InspectForm {
  @ApiProperty({ description: 'An access token or a refresh token', minLength: 1 })
  token!: string;

  @ApiPropertyOptional({ description: '`access_token` or `refresh_token`; only a hint' })
  token_type_hint?: string;

  @ApiPropertyOptional({ example: 'demo-portal' })
  client_id?: string;

  @ApiPropertyOptional({ description: 'Secret of a confidential application' })
  client_secret?: string;
}
