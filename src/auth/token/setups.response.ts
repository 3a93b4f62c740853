import { ApiProperty } from '@nestjs/swagger';

/** Names of setups, in the order of the registry. */
export class SetupsResponse {
  @ApiProperty({ type: [String], example: ['Prod', 'Test'] })
  setups!: string[];
}
