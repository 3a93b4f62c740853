import {
  ApiHideProperty,
  ApiProperty,
  IntersectionType,
  OmitType,
  PartialType,
} from '@nestjs/swagger';
import { OAuthProblem } from '#src/kernel/index.js';
import { IsIn, IsOptional, IsString, Shape } from '#src/http/index.js';
import { ClientForm } from '../../clients/client.request.js';
import { describeFault, OAUTH_FORM } from '../../protocol/oauth-form.js';

/** `issued_token_type` of what is given (RFC 8693 §3). */
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const ACCESS_TOKENS = [ACCESS_TOKEN, 'urn:ietf:params:oauth:token-type:jwt'];
const NO_ACCESS_TOKEN = { message: 'must be an access token' };

/** 400 `invalid_request`: a parameter that the grant type needs is missing, or one is wrong. */
export class MalformedGrantError extends OAuthProblem {
  constructor(
    readonly grantType: string,
    description: string,
  ) {
    super('invalid_request', description);
  }
}

/** Reads the class as the parameters that come with its `grant_type`. */
function Grant(): (form: (new () => object) & { readonly grantType: string }) => void {
  return (form) =>
    Shape({
      ...OAUTH_FORM,
      refuse: (violations) => new MalformedGrantError(form.grantType, describeFault(violations)),
    })(form);
}

/** What every request at the token endpoint carries. */
@Shape(OAUTH_FORM)
export class GrantForm extends ClientForm {
  @ApiProperty({ example: 'client_credentials', maxLength: 100 })
  @IsString()
  grant_type!: string;

  /** Service that the token is for; may be repeated; this one when absent */
  @ApiProperty({ example: ['https://storage.example.org'] })
  @IsOptional()
  @IsString({ each: true })
  audience?: string[];

  /** As audience (RFC 8707) */
  @ApiProperty({ example: ['https://storage.example.org'] })
  @IsOptional()
  @IsString({ each: true })
  resource?: string[];
}

/** What those carry that may ask for less than they could have. */
class ScopedForm extends GrantForm {
  @ApiProperty({ description: 'Words separated by blanks', example: 'jobs:read' })
  @IsOptional()
  @IsString()
  scope?: string;
}

/** What those carry that say as whom their user acts. */
class MemberForm extends ScopedForm {
  @ApiProperty({ description: 'Certificate flow and token exchange', example: 'grid_user' })
  @IsOptional()
  @IsString()
  group?: string;

  @ApiProperty({ description: 'Certificate flow and token exchange', example: 'Prod' })
  @IsOptional()
  @IsString()
  setup?: string;
}

/** Parameters of flow A, and of an application that asks for a token for itself, which is registered with a group. */
@Grant()
export class ClientCredentialsForm extends MemberForm {
  static readonly grantType = 'client_credentials';
}

/** Parameters of flow B, second half (RFC 6749 §4.1.3, RFC 7636 §4.5). */
@Grant()
export class AuthorizationCodeForm extends ScopedForm {
  static readonly grantType = 'authorization_code';

  @ApiProperty({ description: 'Code exchange: the code of the redirect' })
  @IsString()
  code!: string;

  @ApiProperty({ description: 'Code exchange: as sent in the first step, if it was' })
  @IsOptional()
  @IsString()
  redirect_uri?: string;

  @ApiProperty({ description: 'PKCE (RFC 7636)' })
  @IsOptional()
  @IsString()
  code_verifier?: string;
}

/** Parameters of the renewal (RFC 6749 §6). */
@Grant()
export class RefreshTokenForm extends ScopedForm {
  static readonly grantType = 'refresh_token';

  @ApiProperty({ description: 'Renewal: the refresh token' })
  @IsString()
  refresh_token!: string;
}

/** Parameters of a device's poll (RFC 8628 §3.4). */
@Grant()
export class DeviceCodeForm extends GrantForm {
  static readonly grantType = 'urn:ietf:params:oauth:grant-type:device_code';

  @ApiProperty({ description: 'Device flow (RFC 8628): the device code' })
  @IsString()
  device_code!: string;
}

/** Parameters of the exchange of a provider's access token, or one of ours, for one of ours, without an actor (RFC 8693 §2.1). */
@Grant()
export class TokenExchangeForm extends MemberForm {
  static readonly grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

  @ApiProperty({
    description: 'Token exchange (RFC 8693): a token of a provider, or of this service',
  })
  @IsString()
  subject_token!: string;

  @ApiProperty({ example: ACCESS_TOKEN })
  @IsIn(ACCESS_TOKENS, NO_ACCESS_TOKEN)
  subject_token_type!: string;

  /** Token exchange: an access token, which is also given when it is left out */
  @IsOptional()
  @IsIn(ACCESS_TOKENS, NO_ACCESS_TOKEN)
  requested_token_type?: string;

  @ApiHideProperty()
  @IsOptional()
  @IsIn([], { message: 'is not supported' })
  actor_token?: string;
}

/** The parameters of each grant type. */
export const GRANT_FORMS = [
  ClientCredentialsForm,
  AuthorizationCodeForm,
  RefreshTokenForm,
  DeviceCodeForm,
  TokenExchangeForm,
];

/** What the grant type has beside what every one has; nothing of it is needed by all. */
function own<T extends GrantForm>(form: new () => T) {
  return PartialType(OmitType(form, ['grant_type']));
}

/** The parameters of all grant types together. */
export class AnyGrantForm extends IntersectionType(
  GrantForm,
  own(ClientCredentialsForm),
  own(AuthorizationCodeForm),
  own(RefreshTokenForm),
  own(DeviceCodeForm),
  own(TokenExchangeForm),
) {}
