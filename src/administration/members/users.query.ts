import { Clamp, IsInt, IsOptional, IsString, MaxLength, Min } from '#src/http/index.js';

const LONGEST = 200;

/** Query of `GET /admin/users`. */
export class ListUsersQuery {
  /** Only users with this text in their name, full name, e-mail address, certificates or subjects, in any case */
  @IsOptional()
  @MaxLength(LONGEST)
  @IsString()
  search: string = '';

  /** At most so many, by name; more than 500 is taken as 500 */
  @IsOptional()
  @Clamp(500)
  @Min(1)
  @IsInt()
  limit: number = 100;

  /** Cursor of the `Link: rel="next"` header: only users whose names come after it */
  @IsOptional()
  @MaxLength(LONGEST)
  @IsString()
  after?: string;
}
