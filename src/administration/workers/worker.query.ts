import { Clamp, IsInt, IsOptional, IsString, MaxLength, Min } from '#src/http/index.js';

const LONGEST = 128;

/** Query of `GET /admin/workers`. */
export class ListWorkersQuery {
  /** Only workers of this site */
  @IsOptional()
  @MaxLength(LONGEST)
  @IsString()
  site?: string;

  /** At most so many, by id; more than 1000 is taken as 1000 */
  @IsOptional()
  @Clamp(1000)
  @Min(1)
  @IsInt()
  limit: number = 1000;

  /** Cursor of the `Link: rel="next"` header: only workers whose ids come after it */
  @IsOptional()
  @MaxLength(LONGEST)
  @IsString()
  after?: string;
}
