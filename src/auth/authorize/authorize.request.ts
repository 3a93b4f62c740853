import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The consent form. */
export class ConsentForm {
  @ApiProperty({ description: 'From the page; a form without it is refused' })
  csrf!: string;

  @ApiProperty({ enum: ['allow', 'deny'] })
  decision!: string;

  @ApiPropertyOptional({ example: 'grid_user' })
  group?: string;

  @ApiPropertyOptional({ example: 'Prod' })
  setup?: string;
}
