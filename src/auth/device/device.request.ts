import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Form of the device authorization endpoint. */
export class DeviceForm {
  @ApiProperty({ example: 'gridgate-cli' })
  client_id!: string;

  @ApiPropertyOptional({ description: 'Words separated by blanks' })
  scope?: string;

  @ApiPropertyOptional({ description: 'Group that the device would like; the user decides' })
  group?: string;

  @ApiPropertyOptional({ description: 'Setup that the device would like; the user decides' })
  setup?: string;
}

/** The form of the device page. */
export class DeviceDecisionForm {
  @ApiProperty({ description: 'From the page; a form without it is refused' })
  csrf!: string;

  @ApiProperty({ example: 'BCDF-GHJK' })
  user_code!: string;

  @ApiPropertyOptional({ example: 'grid_user' })
  group?: string;

  @ApiPropertyOptional({ example: 'Prod' })
  setup?: string;

  @ApiPropertyOptional({ enum: ['allow', 'deny'], description: 'Absent: look the code up' })
  decision?: string;
}
