import { ApiProperty } from '@nestjs/swagger';
import { isJsonObject, Problem, type JsonObject, type JsonValue } from '#src/kernel/index.js';
import { Check, IsBoolean, IsIn, IsOptional, IsString, ReadBy } from '#src/http/index.js';
import {
  CLIENT_PROFILES,
  ID_TOKEN_ALGORITHMS,
  KEY_AUTHENTICATIONS,
  type ClientProfile,
  type KeyAuthentication,
} from '#src/registry/index.js';

const MOST = 100;
const TEXTS = { type: 'array', items: { type: 'string' }, maxItems: MOST } as const;
const NO_TEXTS = { message: `is not a list of at most ${MOST} texts` };

function areTexts(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MOST &&
    value.every((text) => typeof text === 'string' && text !== '')
  );
}

function asObject(value: JsonValue, key: string): JsonObject {
  if (!isJsonObject(value)) throw Problem.invalidField(key, 'is not a JSON object');
  return value;
}

/** Body of `POST /admin/applications`. */
export class AddApplicationRequest {
  @ApiProperty({ description: 'Shown to users', example: 'My portal' })
  @IsString()
  name!: string;

  @ApiProperty({ description: 'The client_id; made up when it is left out', example: 'my-portal' })
  @IsOptional()
  @IsString()
  id?: string;

  @ApiProperty({ ...TEXTS, example: ['https://portal.example.org/callback'] })
  @IsOptional()
  @Check(areTexts, NO_TEXTS)
  redirectUris: string[] = [];

  @ApiProperty({ ...TEXTS, description: 'Where its users may go once they have signed out' })
  @IsOptional()
  @Check(areTexts, NO_TEXTS)
  postLogoutRedirectUris: string[] = [];

  /** It can keep a secret */
  @IsOptional()
  @IsBoolean()
  confidential?: boolean;

  @ApiProperty({ ...TEXTS, description: 'Services that it may have tokens for; `*` for all' })
  @IsOptional()
  @Check(areTexts, NO_TEXTS)
  audiences: string[] = [];

  /** What is demanded of it */
  @IsOptional()
  @IsIn(CLIENT_PROFILES)
  profile?: ClientProfile;

  /** How it proves itself in place of a secret */
  @IsOptional()
  @IsIn(KEY_AUTHENTICATIONS)
  authentication?: KeyAuthentication;

  @ApiProperty({
    description: 'Its public keys or certificates (RFC 7517)',
    type: 'object',
    additionalProperties: true,
  })
  @IsOptional()
  @ReadBy(asObject)
  jwks?: JsonObject;

  /** DN of its certificate, for `tls_client_auth` */
  @IsOptional()
  @IsString()
  subjectDn?: string;

  /** Algorithm of its ID tokens in place of that of the service */
  @IsOptional()
  @IsIn(ID_TOKEN_ALGORITHMS)
  idTokenAlg?: 'RS256';

  @ApiProperty({ ...TEXTS, description: 'Scopes of tokens for itself' })
  @IsOptional()
  @Check(areTexts, NO_TEXTS)
  scopes: string[] = [];

  /** Group whose rights bound the tokens for itself */
  @IsOptional()
  @IsString()
  group?: string;
}
