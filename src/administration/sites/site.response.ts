import { ApiProperty } from '@nestjs/swagger';
import { TIME } from '../answer/administration.openapi.js';
import type { SiteReport } from './site-reports.js';

const OBJECT = { type: 'object', additionalProperties: true } as const;

/** A site. */
export class SiteResponse implements SiteReport {
  @ApiProperty({ example: 'LOCAL.demo' })
  name!: string;

  @ApiProperty({ example: 'local-process' })
  backend!: string;

  @ApiProperty({ enum: ['open', 'drained'], description: '`drained`: it gets no new jobs' })
  state!: 'open' | 'drained';

  @ApiProperty({ ...TIME, description: 'When it was drained', required: false })
  since?: string;

  @ApiProperty({ description: 'Who drained it', required: false })
  by?: string;

  @ApiProperty({ description: 'Why it was drained', required: false })
  reason?: string;

  @ApiProperty({ description: 'How a cluster of its own is reached', required: false })
  cluster?: string;

  @ApiProperty({ description: 'Why nothing can start there now', required: false })
  fault?: string;

  @ApiProperty({ description: 'Setups whose jobs it runs', type: [String], required: false })
  setups?: readonly string[];

  @ApiProperty({
    description: 'Virtual organisations whose jobs it runs; absent: all',
    type: [String],
    required: false,
  })
  vos?: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Jobs at once', required: false })
  slots?: number;

  @ApiProperty({ type: 'integer', description: 'Processors for all of its jobs', required: false })
  processors?: number;

  @ApiProperty({ type: 'integer', description: 'MB for all of its jobs', required: false })
  ramMB?: number;

  @ApiProperty({ type: 'integer', description: 'GPUs for all of its jobs', required: false })
  gpus?: number;

  @ApiProperty({ description: 'What jobs may ask for by name', type: [String], required: false })
  tags?: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Seconds that a job may run', required: false })
  maxWallTime?: number;

  @ApiProperty({ ...OBJECT, description: 'Of its jobs: `running`, `waiting`, `tags`' })
  limits?: SiteReport['limits'];

  @ApiProperty({ ...OBJECT, description: 'Settings of the backend' })
  options?: SiteReport['options'];
}

/** Sites, in the order of the registry. */
export class SiteListResponse {
  sites!: SiteResponse[];
}
