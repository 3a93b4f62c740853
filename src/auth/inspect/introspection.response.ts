import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ConsentEntity } from '../stores/consent.entity.js';
import type { AccessTokenClaims } from '../bearer/access-token.js';

/** Answer of the introspection endpoint (RFC 7662 §2.2). */
export class IntrospectionResponse {
  @ApiProperty({ description: 'False: dead, unknown or not yours; then nothing else is said' })
  active!: boolean;

  @ApiPropertyOptional({ example: 'jobs:read jobs:submit' })
  scope?: string;

  @ApiPropertyOptional({ example: 'demo-portal' })
  client_id?: string;

  @ApiPropertyOptional({ description: 'User name', example: 'alice' })
  username?: string;

  @ApiPropertyOptional({ description: '`Bearer` for access tokens' })
  token_type?: string;

  @ApiPropertyOptional({ description: 'Seconds since 1970' })
  exp?: number;

  @ApiPropertyOptional({ description: 'Seconds since 1970' })
  iat?: number;

  @ApiPropertyOptional({ example: 'alice' })
  sub?: string;

  @ApiPropertyOptional({ type: String, example: 'https://localhost:8443' })
  aud?: string | string[];

  @ApiPropertyOptional()
  iss?: string;

  @ApiPropertyOptional()
  jti?: string;

  @ApiPropertyOptional({ example: 'grid_user' })
  group?: string;

  @ApiPropertyOptional({ example: 'Prod' })
  setup?: string;

  static ofAccessToken(claims: AccessTokenClaims): IntrospectionResponse {
    const { scope, client_id: clientId, exp, iat, sub, aud, iss, jti, group, setup } = claims;
    return {
      active: true,
      scope,
      client_id: clientId,
      username: sub,
      token_type: 'Bearer',
      exp,
      iat,
      sub,
      aud,
      iss,
      jti,
      group,
      setup,
    };
  }

  static ofRefreshToken(consent: ConsentEntity, issuer: string): IntrospectionResponse {
    return {
      active: true,
      scope: consent.scope,
      client_id: consent.clientId,
      username: consent.user,
      sub: consent.user,
      iss: issuer,
      group: consent.group,
      setup: consent.setup,
    };
  }
}
