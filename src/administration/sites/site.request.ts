import { isPlainText } from '#src/kernel/index.js';
import { Check, IsString, MaxLength, MinLength } from '#src/platform/index.js';

/** Body of `POST /admin/sites/<site>/drain`. */
export class DrainSiteRequest {
  /** For users, whose jobs wait */
  @Check((text: string) => /\S/.test(text), { message: 'is blank' })
  @Check(isPlainText, { message: 'has control characters or invisible ones' })
  @MaxLength(500)
  @MinLength(1)
  @IsString()
  reason!: string;
}
