import { ApiProperty } from '@nestjs/swagger';

/** The form that leads to an identity provider. */
export class LoginForm {
  @ApiProperty({ description: 'From the page; a form without it is refused' })
  csrf!: string;

  @ApiProperty({ description: 'Own path to come back to', example: '/oauth2/applications' })
  return!: string;
}
