import { IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `POST /jobs`. */
export class SubmitQuery {
  /** Check, create nothing */
  @IsOptional()
  @IsBoolean()
  dryRun: boolean = false;

  /** Make the jobs an array: the same as `"array": true` in the body */
  @IsOptional()
  @IsBoolean()
  array: boolean = false;
}
