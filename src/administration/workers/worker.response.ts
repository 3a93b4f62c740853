import { ApiProperty } from '@nestjs/swagger';
import { WORKER_ISOLATIONS, type WorkerReport } from '#src/jobs/index.js';
import { TIME } from '../answer/administration.openapi.js';

/** A worker. */
export class WorkerResponse implements WorkerReport {
  @ApiProperty({ format: 'uuid', example: '5a9c8f3e-2d41-4b7a-9c55-0e6d1f2a3b4c' })
  id!: string;

  @ApiProperty({ example: 'DESK.example' })
  site!: string;

  @ApiProperty({ description: 'As it calls itself; not unique', example: 'node7' })
  name!: string;

  @ApiProperty({ description: 'Version of its program', example: '0.2.0' })
  version!: string;

  @ApiProperty({ type: 'integer', description: 'Of what it and the service say to each other' })
  protocol!: number;

  @ApiProperty({
    enum: ['active', 'silent', 'draining', 'gone'],
    description:
      '`silent`: nothing was heard of it for a lease; `draining`: it is given no jobs; `gone`: within the last day',
  })
  state!: WorkerReport['state'];

  @ApiProperty({
    enum: WORKER_ISOLATIONS,
    description: 'How far it says to keep its jobs apart',
    required: false,
  })
  isolation?: (typeof WORKER_ISOLATIONS)[number];

  @ApiProperty({ type: 'integer', description: 'Processors for its jobs', required: false })
  processors?: number;

  @ApiProperty({ type: 'integer', description: 'MB of memory for its jobs', required: false })
  ramMB?: number;

  @ApiProperty({ type: 'integer', description: 'GPUs for its jobs', required: false })
  gpus?: number;

  @ApiProperty({ type: 'integer', description: 'MB of disk for its jobs', required: false })
  diskMB?: number;

  @ApiProperty({ description: 'What jobs may ask for by name', type: [String], required: false })
  tags?: string[];

  @ApiProperty({ description: 'Whether each job has a memory cgroup', required: false })
  memoryCgroup?: boolean;

  @ApiProperty({ ...TIME, description: 'When it takes its leave', required: false })
  endsAt?: string;

  @ApiProperty({ type: 'integer', description: 'Seconds that its jobs may run', required: false })
  wallSeconds?: number;

  @ApiProperty({
    description: 'Why it gets no jobs now, or fewer than it would take',
    required: false,
  })
  fault?: string;

  @ApiProperty({ description: 'Id of the secret that it has shown last' })
  secret!: string;

  @ApiProperty(TIME)
  registeredAt!: string;

  @ApiProperty({ ...TIME, description: 'When it was heard of last' })
  seenAt!: string;

  @ApiProperty({ ...TIME, description: 'Since when it is given no jobs', required: false })
  drainingAt?: string;

  @ApiProperty({ ...TIME, description: 'Since when it is gone', required: false })
  removedAt?: string;
}

/** Workers, by id. */
export class WorkerListResponse {
  workers!: WorkerResponse[];
}
