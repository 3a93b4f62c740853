import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Shape } from '#src/http/index.js';
import { ClientForm } from '../clients/client.request.js';
import { OAUTH_FORM } from '../protocol/oauth-form.js';
import { ChoiceForm, PAGE_FORM } from '../sign-in/pages/page.request.js';

/** Form of the device authorization endpoint. */
@Shape(OAUTH_FORM)
export class DeviceForm extends ClientForm {
  @ApiProperty({ example: 'gridgate-cli', required: true })
  declare client_id?: string;

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

  /** Group that the device would like; the user decides */
  @IsOptional()
  @IsString()
  group?: string;

  /** Setup that the device would like; the user decides */
  @IsOptional()
  @IsString()
  setup?: string;
}

/** The address of the device page. */
export class DeviceQuery {
  @ApiProperty({ example: 'BCDF-GHJK' })
  @IsOptional()
  @IsString()
  user_code?: string;
}

/** The form of the device page. */
@Shape(PAGE_FORM)
export class DeviceDecisionForm extends ChoiceForm {
  @ApiProperty({ example: 'BCDF-GHJK', required: true })
  @IsOptional()
  @IsString()
  user_code?: string;

  @ApiProperty({ enum: ['allow', 'deny', 'another'], description: 'Absent: look the code up' })
  @IsOptional()
  @IsString()
  decision?: string;
}
