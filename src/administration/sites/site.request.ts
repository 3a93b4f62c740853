import { Check, IsString, MaxLength, MinLength } from '#src/platform/index.js';

const CONTROL = /\p{Cc}/u;

/** Body of `POST /admin/sites/<site>/drain`. */
export class DrainSiteRequest {
  /** For users, whose jobs wait */
  @Check((text: string) => !CONTROL.test(text), { message: 'has control characters' })
  @MaxLength(500)
  @MinLength(1)
  @IsString()
  reason!: string;
}
