import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Shape } from '#src/http/index.js';
import { ClientForm } from '../clients/client.request.js';
import { OAUTH_FORM } from '../protocol/oauth-form.js';

/** Form of revocation and introspection. */
@Shape(OAUTH_FORM)
export class InspectForm extends ClientForm {
  @ApiProperty({ description: 'An access token or a refresh token', minLength: 1 })
  @IsString()
  token!: string;

  @ApiProperty({ description: '`access_token` or `refresh_token`; only a hint' })
  @IsOptional()
  @IsString()
  token_type_hint?: string;
}
