import { ApiProperty } from '@nestjs/swagger';
import { TIME } from '../answer/administration.openapi.js';
import type { SiteReport } from './site-reports.js';

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
}

/** Sites, in the order of the registry. */
export class SiteListResponse {
  sites!: SiteResponse[];
}
