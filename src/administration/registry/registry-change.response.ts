import { ApiProperty } from '@nestjs/swagger';

/** What a change of the registry has changed. */
export class RegistryChangeResponse {
  @ApiProperty({
    description: 'Each change as a line; none when everything was so already',
    type: [String],
    example: ['~ groups.grid_user: members -alice'],
  })
  changes!: string[];

  @ApiProperty({
    description: 'Never there: a change stays',
    type: [String],
    required: false,
    deprecated: true,
  })
  warnings?: string[];
}
