import { ApiProperty } from '@nestjs/swagger';
import { Allow, IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `DELETE /jobs/<jid>`. */
export class KillJobQuery {
  /** Delete it afterwards */
  @IsOptional()
  @IsBoolean()
  purge: boolean = false;
}

/** Query of `DELETE /jobs`. */
export class KillJobsQuery {
  /** Which are ids, and how many there may be, is the service's to say. */
  @ApiProperty({
    description: 'Ids, at least one',
    required: true,
    type: 'array',
    minItems: 1,
    items: { type: 'integer', format: 'int64', minimum: 1 },
    example: [1, 2],
  })
  @Allow()
  jid?: string[];

  /** Delete them afterwards */
  @IsOptional()
  @IsBoolean()
  purge: boolean = false;
}
