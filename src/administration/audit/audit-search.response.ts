import { ApiProperty } from '@nestjs/swagger';
import type { AuditEventEntity } from '#src/audit/index.js';

const ID = { format: 'uuid', example: '019ab0c2-7a5e-7000-9d53-3d5f0c3f6a11' };
const NAME = { type: 'string', required: false } as const;

/** A line of the audit trail. */
export class AuditEventResponse {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-02T03:04:05.678Z' })
  time!: string;

  @ApiProperty({ description: 'Host and port of the server, or the host where a command ran' })
  instance!: string;

  @ApiProperty({ example: 'job.killed' })
  event!: string;

  @ApiProperty({ enum: ['done', 'refused'] })
  outcome!: string;

  @ApiProperty({ ...NAME, example: 'alice' })
  user?: string;

  @ApiProperty({ ...NAME, example: 'grid_user' })
  group?: string;

  @ApiProperty({ ...NAME, description: 'The application', example: 'demo-portal' })
  client?: string;

  @ApiProperty({
    description:
      'The other fields of the line: those of the event, `address`, `requestId`, `setup`',
    type: 'object',
    additionalProperties: true,
    example: { jids: ['7', '10-12'], killed: 4 },
  })
  details!: object;

  static from(line: AuditEventEntity): AuditEventResponse {
    const { user, group, client, details } = line;
    return {
      id: line.id,
      time: line.time.toISOString(),
      instance: line.instance,
      event: line.event,
      outcome: line.outcome,
      ...(user !== null && { user }),
      ...(group !== null && { group }),
      ...(client !== null && { client }),
      details,
    };
  }
}

/** Lines of the audit trail of all instances, newest first. */
export class AuditSearchResponse {
  events!: AuditEventResponse[];

  @ApiProperty({ ...ID, description: 'For `before`, when there are older ones', required: false })
  next?: string;
}
