import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { dpopKeyOf } from '../../possession/confirmation.js';
import type { IssuedTokens } from './token-issuer.js';

/** What a token answer carries beside the access token. */
export interface TokenExtras {
  refreshToken?: string | undefined;
  /** Of a token exchange (RFC 8693 §2.2.1). */
  issuedTokenType?: string;
}

/** Answer of the token endpoint (RFC 6749 §5.1). */
export class TokenResponse {
  @ApiProperty({ description: 'The access token, a JWT (RFC 9068)' })
  access_token!: string;

  @ApiProperty({ description: 'The same value, for clients of the older interface' })
  token!: string;

  @ApiProperty({ description: '`DPoP` of a token that is bound to a DPoP key', example: 'Bearer' })
  token_type!: string;

  @ApiProperty({ description: 'Seconds that the access token lives', example: 21600 })
  expires_in!: number;

  @ApiProperty({ example: 'jobs:read catalogue:read' })
  scope!: string;

  @ApiProperty({ example: 'grid_user' })
  group!: string;

  @ApiProperty({ example: 'Prod' })
  setup!: string;

  @ApiPropertyOptional({ description: 'Who the user is, a JWT: with the scope `openid`' })
  id_token?: string;

  @ApiPropertyOptional({
    description:
      'Renews the token; absent in the certificate flow, and with `openid` but without `offline_access`',
  })
  refresh_token?: string;

  @ApiPropertyOptional({ description: 'Only in the answer of a token exchange' })
  issued_token_type?: string;

  static from(minted: IssuedTokens, extras: TokenExtras = {}): TokenResponse {
    const { scope, group, setup, cnf } = minted.claims;
    return {
      access_token: minted.token,
      token: minted.token,
      token_type: dpopKeyOf(cnf) === undefined ? 'Bearer' : 'DPoP',
      expires_in: minted.expiresInSeconds,
      scope,
      group,
      setup,
      ...(minted.idToken !== undefined && { id_token: minted.idToken }),
      ...(extras.refreshToken !== undefined && { refresh_token: extras.refreshToken }),
      ...(extras.issuedTokenType !== undefined && { issued_token_type: extras.issuedTokenType }),
    };
  }
}
