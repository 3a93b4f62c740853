import { ApiProperty } from '@nestjs/swagger';

/** Names of groups, in the order of the registry. */
export class GroupsResponse {
  @ApiProperty({ type: [String], example: ['grid_user', 'grid_share'] })
  groups!: string[];
}
