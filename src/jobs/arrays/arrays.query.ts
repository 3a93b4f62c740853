import { IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `DELETE /jobs/arrays/<arrayId>`. */
export class KillArrayQuery {
  /** Delete its members afterwards */
  @IsOptional()
  @IsBoolean()
  purge: boolean = false;
}
