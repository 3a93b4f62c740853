import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import type { ConsentEntity } from '../stores/consent.entity.js';
import { dpopKeyOf, type Confirmation } from '../possession/confirmation.js';
import { userNameOf, type AccessTokenClaims, type ActorClaim } from '../bearer/access-token.js';

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

  @ApiPropertyOptional({ description: '`Bearer` or `DPoP` for access tokens' })
  token_type?: string;

  @ApiPropertyOptional({ description: 'Seconds since 1970' })
  exp?: number;

  @ApiPropertyOptional({ description: 'Seconds since 1970' })
  iat?: number;

  @ApiPropertyOptional({ description: 'Good from then on, seconds since 1970' })
  nbf?: number;

  @ApiPropertyOptional({
    description: 'The user, opaque and for life',
    example: '2f6c4a7e-5f0b-4a3d-9f7e-2b1c8d3e4f50',
  })
  sub?: string;

  @ApiPropertyOptional({ $ref: '#/components/schemas/Audience' } as ApiPropertyOptions)
  aud?: string | string[];

  @ApiPropertyOptional()
  iss?: string;

  @ApiPropertyOptional()
  jti?: string;

  @ApiPropertyOptional({ example: 'grid_user' })
  group?: string;

  @ApiPropertyOptional({ example: 'Prod' })
  setup?: string;

  @ApiPropertyOptional({ type: [String], example: ['/vo/grid_user', '/vo'] })
  'wlcg.groups'?: string[];

  @ApiPropertyOptional({
    description: 'The application that acts with it (RFC 8693 §4.1)',
    type: 'object',
    additionalProperties: true,
    example: { sub: 'demo-portal' },
  })
  act?: ActorClaim;

  @ApiPropertyOptional({
    description: 'To what the token is bound: `jkt` (RFC 9449) or `x5t#S256` (RFC 8705)',
    type: 'object',
    additionalProperties: { type: 'string' },
  })
  cnf?: Confirmation;

  static ofAccessToken(claims: AccessTokenClaims): IntrospectionResponse {
    const {
      scope,
      client_id: clientId,
      exp,
      nbf,
      iat,
      sub,
      aud,
      iss,
      jti,
      group,
      setup,
      act,
      cnf,
    } = claims;
    const groups = claims['wlcg.groups'];
    return {
      active: true,
      scope,
      client_id: clientId,
      username: userNameOf(claims),
      token_type: dpopKeyOf(cnf) === undefined ? 'Bearer' : 'DPoP',
      exp,
      ...(nbf !== undefined && { nbf }),
      iat,
      sub,
      aud,
      iss,
      jti,
      group,
      setup,
      ...(groups && { 'wlcg.groups': groups }),
      ...(act && { act }),
      ...(cnf && { cnf }),
    };
  }

  static ofRefreshToken(
    consent: ConsentEntity,
    { sub, iss }: { sub: string; iss: string },
  ): IntrospectionResponse {
    return {
      active: true,
      scope: consent.scope,
      client_id: consent.clientId,
      username: consent.user,
      sub,
      iss,
      group: consent.group,
      setup: consent.setup,
    };
  }
}
