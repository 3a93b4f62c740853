import { ApiProperty } from '@nestjs/swagger';
import {
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Min,
  ReadAllBy,
  Shape,
} from '#src/http/index.js';
import { ChoiceForm, PAGE_FORM } from '../sign-in/pages/page.request.js';
import { NOT_SUPPORTED, refusedRequest } from './authorization-request.js';

/** Nothing at all. Not written as IsIn, of which the document would say that there is an empty list of values. */
const IsNotSupported = (): PropertyDecorator => IsIn([], NOT_SUPPORTED);

/** The one of the texts that is not empty; undefined for none or several. */
function only(texts: string[]): string | undefined {
  const [text, ...more] = texts.filter((each) => each !== '');
  return more.length === 0 ? text : undefined;
}

/** What is looked at first of an authorization request: who asks, and where the answer goes. */
export class AuthorizationTarget {
  @ReadAllBy(only)
  client_id?: string;

  @ReadAllBy((texts) => texts.filter((text) => text !== ''))
  redirect_uri: string[] = [];

  /** As it was sent, also when it is empty (RFC 6749 §4.1.2); none when it is given more than once. */
  @ReadAllBy(([state, ...more]) => (more.length === 0 ? state : undefined))
  state?: string;
}

/** An authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3); who asks is known before it is judged. */
@Shape({ ignoresUnknown: true, emptyIsAbsent: true, refuse: refusedRequest })
export class AuthorizationQuery {
  @ApiProperty({ example: 'code' })
  @IsIn(['code'], { message: 'must be code' })
  response_type!: string;

  @ApiProperty({ example: 'demo-portal', required: true })
  @IsOptional()
  @IsString()
  client_id?: string;

  @ApiProperty({ required: false })
  redirect_uri?: string;

  @IsOptional()
  @IsString()
  state?: string;

  /** Words separated by blanks */
  @IsOptional()
  @IsString()
  scope?: string;

  /** Service that tokens are for; may be repeated */
  @IsOptional()
  @IsString({ each: true })
  audience?: string[];

  /** As audience (RFC 8707) */
  @IsOptional()
  @IsString({ each: true })
  resource?: string[];

  /** PKCE (RFC 7636) */
  @IsOptional()
  @IsString()
  code_challenge?: string;

  @ApiProperty({ example: 'S256' })
  @IsOptional()
  @IsString()
  code_challenge_method?: string;

  /** Goes into the ID token (OpenID Connect) */
  @IsOptional()
  @IsString()
  nonce?: string;

  /** `none`, or words of `login`, `consent`, `select_account` separated by blanks (OpenID Connect) */
  @IsOptional()
  @IsString()
  prompt?: string;

  /** Seconds since the user signed in, at most (OpenID Connect) */
  @IsOptional()
  @Min(0)
  @IsInt()
  max_age?: number;

  /** Who is expected, for the sign-in page and for identity providers (OpenID Connect) */
  @IsOptional()
  @IsString()
  login_hint?: string;

  /** An ID token of this application: its user and nobody else is to sign in (OpenID Connect) */
  @IsOptional()
  @IsString()
  id_token_hint?: string;

  /** Refused with `request_not_supported` */
  @IsOptional()
  @IsNotSupported()
  request?: string;

  /** Of a pushed request (RFC 9126): then only `client_id` stands beside it; any other is refused with `request_uri_not_supported` */
  @IsOptional()
  @IsNotSupported()
  request_uri?: string;

  /** Refused with `registration_not_supported` */
  @IsOptional()
  @IsNotSupported()
  registration?: string;

  /** Thumbprint of the DPoP key of the token request, to which the code is then bound (RFC 9449 §10) */
  @ApiProperty({ example: 'UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFw' })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: 'is no SHA-256 thumbprint' })
  dpop_jkt?: string;

  @ApiProperty({ example: 'query' })
  @IsOptional()
  @IsIn(['query'], { message: 'must be query' })
  response_mode?: string;

  /** Group that the application would like; the user decides */
  @IsOptional()
  @IsString()
  group?: string;

  /** Setup that the application would like; the user decides */
  @IsOptional()
  @IsString()
  setup?: string;
}

/** The consent form. */
@Shape(PAGE_FORM)
export class ConsentForm extends ChoiceForm {
  @ApiProperty({ enum: ['allow', 'deny', 'another'], required: true })
  @IsOptional()
  @IsString()
  decision?: string;
}
