import { IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `GET …/file/<f>/content`. */
export class ContentQuery {
  /** The bytes come through the service, also where it would redirect to a signed address */
  @IsOptional()
  @IsBoolean()
  through: boolean = false;
}
