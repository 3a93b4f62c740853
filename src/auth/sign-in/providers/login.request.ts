import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Shape } from '#src/http/index.js';
import { PAGE_FORM, PageForm } from '../pages/page.request.js';

/** The form that leads to an identity provider. */
@Shape(PAGE_FORM)
export class LoginForm extends PageForm {
  @ApiProperty({
    description: 'Own path to come back to',
    example: '/oauth2/applications',
    required: true,
  })
  @IsOptional()
  @IsString()
  return?: string;

  @ApiProperty({ enum: ['select_account'], description: 'The provider asks which account' })
  @IsOptional()
  @IsIn(['select_account'])
  prompt?: 'select_account';
}
