import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { INT64 } from '../state/job.openapi.js';

/** Answer to a kill or a reschedule. */
export class JobIdResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
}

/** What became of one job of a bulk kill. */
export class BulkKillResult {
  @ApiProperty({ type: 'integer', enum: [200, 403, 404, 409], example: 200 })
  status!: number;
  detail?: string;
}

/** Answer to a bulk kill: job id → result. */
@ApiExtraModels(BulkKillResult)
export class BulkKillResponse {
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(BulkKillResult) },
    example: { '4711': { status: 200 }, '4712': { status: 404, detail: 'There is no job 4712' } },
  })
  results!: Record<string, BulkKillResult>;
}
