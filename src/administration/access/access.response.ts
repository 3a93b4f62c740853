import { ApiProperty } from '@nestjs/swagger';

/** Whether somebody may administer the service. */
export class AdministrationAccessResponse {
  @ApiProperty({
    description:
      'The group of the token has ServiceAdministrator: a token for it may have the scope `admin`, which must be asked for by name',
  })
  possible!: boolean;

  @ApiProperty({ description: 'The token has the scope `admin` and may be used for it' })
  granted!: boolean;
}
