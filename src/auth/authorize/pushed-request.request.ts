import { ApiHideProperty, ApiProperty, IntersectionType, OmitType } from '@nestjs/swagger';
import { OAuthProblem, type OAuthErrorCode } from '#src/kernel/index.js';
import { IsIn, IsOptional, IsString, Shape } from '#src/http/index.js';
import { ClientForm } from '../clients/client.request.js';
import { describeFault, OAUTH_FORM } from '../protocol/oauth-form.js';
import { NOT_SUPPORTED, refusedRequest } from './authorization-request.js';
import { AuthorizationQuery } from './authorize.request.js';

const NOT_HERE = { message: 'is not supported here' };

class PushedParameters extends OmitType(AuthorizationQuery, [
  'client_id',
  'redirect_uri',
  'request_uri',
  'request',
  'registration',
]) {}

/** A pushed authorization request (RFC 9126 §2.1): the parameters of an authorization request, and who sends them. */
@Shape({
  ...OAUTH_FORM,
  withQuery: false,
  refuse: (violations) => {
    const [{ problem } = { problem: '' }] = violations;
    const isRepeated = problem === 'may be given only once';
    const text = describeFault(violations);
    const { error } = refusedRequest(violations);
    return new OAuthProblem(isRepeated ? 'invalid_request' : (error as OAuthErrorCode), text);
  },
})
export class PushedRequestForm extends IntersectionType(ClientForm, PushedParameters) {
  @ApiProperty({ example: 'https://portal.example/callback' })
  @IsOptional()
  @IsString()
  redirect_uri?: string;

  @ApiHideProperty()
  @IsOptional()
  @IsIn([], NOT_HERE)
  request_uri?: string;

  @ApiHideProperty()
  @IsOptional()
  @IsIn([], NOT_SUPPORTED)
  request?: string;

  @ApiHideProperty()
  @IsOptional()
  @IsIn([], NOT_SUPPORTED)
  registration?: string;
}
