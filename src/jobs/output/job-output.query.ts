import { IsBoolean, IsOptional } from '#src/http/index.js';

/** Query of `GET /jobs/<jid>/output/<name>`. */
export class JobOutputQuery {
  /** Go on with what the job writes until it ends */
  @IsOptional()
  @IsBoolean()
  follow: boolean = false;
}
