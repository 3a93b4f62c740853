import { IsBoolean, IsInt, IsOptional, Min } from '#src/http/index.js';
import { ConditionsQuery } from '../metadata/conditions.query.js';

/** Query of the values that are compatible with conditions. */
export class ValuesQuery extends ConditionsQuery {
  /** At most so many values of each field; adds `total`, `min` and `max` */
  @IsOptional()
  @Min(1)
  @IsInt()
  maxValues?: number;

  /** Each value as `{"value", "directories"}` with the number of matching directories */
  @IsOptional()
  @IsBoolean()
  counts: boolean = false;
}
