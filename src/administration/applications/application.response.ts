import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { ClientReport } from '#src/auth/index.js';
import { CLIENT_PROFILES, type ClientProfile } from '#src/registry/index.js';

const TEXTS = { type: [String] as [typeof String] };

/** A program that acts for users, never with its secret. */
export class ApplicationResponse {
  @ApiProperty({ description: 'The client_id', example: 'my-portal' })
  id!: string;

  @ApiProperty({ example: 'My portal' })
  name!: string;

  @ApiProperty({ ...TEXTS, example: ['https://portal.example.org/callback'] })
  redirectUris!: string[];

  @ApiProperty({ ...TEXTS, description: 'Where its users may go once they have signed out' })
  postLogoutRedirectUris!: string[];

  @ApiProperty({ description: 'It can keep a secret' })
  confidential!: boolean;

  @ApiProperty({ ...TEXTS, description: 'Services that it may have tokens for; `*` for all' })
  audiences!: string[];

  @ApiProperty({ enum: CLIENT_PROFILES, description: 'What is demanded of it' })
  profile!: ClientProfile;

  @ApiProperty({ description: 'How it proves itself', example: 'client_secret' })
  authentication!: string;

  @ApiProperty({
    description: 'Algorithm of its ID tokens in place of that of the service',
    required: false,
  })
  idTokenAlg?: string;

  @ApiProperty({ ...TEXTS, description: 'Scopes of tokens for itself', required: false })
  scopes?: string[];

  @ApiProperty({ description: 'Group whose rights bound these tokens', required: false })
  group?: string;

  @ApiProperty({
    enum: ['file', 'command'],
    description: 'Who keeps it: a registry file that was loaded, or administrators one by one',
  })
  origin!: string;

  static from(report: ClientReport): ApplicationResponse {
    const { name, confidential, audiences = [], profile, authentication, origin } = report;
    const { id_token_signed_response_alg: idTokenAlg, scopes, group } = report;
    return {
      id: report.client_id,
      name,
      redirectUris: report.redirect_uris,
      postLogoutRedirectUris: report.post_logout_redirect_uris ?? [],
      ...{ confidential, audiences, profile, authentication },
      ...(idTokenAlg !== undefined && { idTokenAlg }),
      ...(scopes && { scopes }),
      ...(group !== undefined && { group }),
      origin,
    };
  }
}

/** Applications, in the order of the registry. */
export class ApplicationListResponse {
  applications!: ApplicationResponse[];
}

/** A new application. The secret is not shown again. */
export class AddedApplicationResponse {
  @ApiProperty({ description: 'The client_id', example: 'my-portal' })
  id!: string;

  @ApiProperty({ description: 'With which it proves itself', required: false })
  secret?: string;
}

/** An application that is gone; its tokens are refused from now on. */
export class RemovedApplicationResponse {
  @ApiProperty({ description: 'The client_id', example: 'my-portal' })
  id!: string;

  @ApiProperty({ type: Boolean, 'x-values': [true], example: true } as ApiPropertyOptions)
  deleted!: true;

  @ApiProperty({
    ...TEXTS,
    description: 'Never there: a change stays',
    required: false,
    deprecated: true,
  })
  warnings?: string[];
}
