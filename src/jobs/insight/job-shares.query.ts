import { IsOptional, IsString } from '#src/http/index.js';

/** Query of `GET /jobs/shares`. */
export class JobSharesQuery {
  /** Only this group */
  @IsOptional()
  @IsString()
  group?: string;
}
