import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { IsOptional, IsString, Shape } from '#src/http/index.js';
import { PAGE_FORM } from '../sign-in/pages/page.request.js';

/** A request of an application to sign its user out (OpenID Connect RP-Initiated Logout §2). */
@Shape({ ...PAGE_FORM, emptyIsAbsent: true })
export class LogoutQuery {
  /** An ID token of the application, expired or not: its session is the one to end */
  @IsOptional()
  @IsString()
  id_token_hint?: string;

  @ApiProperty({ description: 'The application, without id_token_hint', example: 'demo-portal' })
  @IsOptional()
  @IsString()
  client_id?: string;

  /** Where to go on, as registered for the application */
  @IsOptional()
  @IsString()
  post_logout_redirect_uri?: string;

  /** Given back to the application */
  @IsOptional()
  @IsString()
  state?: string;
}

/** What the page that asks adds. */
class ConfirmedForm {
  @ApiProperty({ description: 'From a page of this service: the user has confirmed' })
  @IsOptional()
  @IsString()
  csrf?: string;
}

/** The same as a form, of an application or of a page of this service. */
@Shape({ ...PAGE_FORM, emptyIsAbsent: true, isOptional: true })
export class LogoutForm extends IntersectionType(LogoutQuery, ConfirmedForm) {}
