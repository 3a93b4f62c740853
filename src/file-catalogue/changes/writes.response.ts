import { ApiProperty } from '@nestjs/swagger';

/** A directory or file that was asked for. */
export class MadeResponse {
  @ApiProperty({ description: 'Path in the catalogue', example: '/vo/a' })
  path!: string;

  @ApiProperty({ description: 'false when it was there already', example: true })
  created!: boolean;
}

/** A directory or file that is gone. */
export class DeletedResponse {
  @ApiProperty({ description: 'Path in the catalogue', example: '/vo/a' })
  path!: string;

  @ApiProperty({ description: 'Always true', example: true })
  deleted!: boolean;

  @ApiProperty({
    description: 'true: bytes at storage elements are being removed, and the path is not free yet',
    required: false,
    example: true,
  })
  removing?: boolean;
}

/** A declared field. */
export class FieldResponse {
  @ApiProperty({ description: 'Name of the field', example: 'run' })
  name!: string;

  @ApiProperty({ description: 'Type of its values', example: 'int' })
  type!: string;
}
