import { ApiProperty } from '@nestjs/swagger';
import { isPlainText } from '#src/kernel/index.js';
import { Check, IsIn, IsOptional, IsString, MaxLength, MinLength } from '#src/http/index.js';
import { SITE_BACKENDS, type SiteBackend } from '#src/registry/index.js';
import { Count, Members, Texts } from '../registry/member-rules.js';

const MILLION = 1_000_000;
const SETUPS = { description: 'Setups whose jobs it runs; left out: all', example: ['Prod'] };
const VOS = {
  description: 'Virtual organisations whose jobs it runs; left out: all',
  minItems: 1,
  example: ['vo'],
};
const SLOTS = { minimum: 1, maximum: MILLION, description: 'Jobs at once' };
const PROCESSORS = { minimum: 1, maximum: MILLION, description: 'Processors for all of its jobs' };
const RAM = {
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'MB (2^20 bytes) for all of its jobs',
};
const GPUS = { minimum: 0, maximum: MILLION, description: 'GPUs for all of its jobs' };
const TAGS = { description: 'What jobs may ask for by name', example: ['el9'] };
const TIME = { minimum: 1, maximum: 366 * 86_400, description: 'Seconds that a job may run' };
const LIMITS = {
  description:
    'Of the jobs: `running` and `waiting`, whole numbers, and `tags` of such; none when it is empty',
  example: { running: 50 },
};
const OPTIONS = {
  description: 'Settings of the backend, such as `partition` and `account` of Slurm',
  example: { partition: 'short' },
};
const REMOVABLE = { removable: true };

/** What both bodies may say. */
class SiteRequest {
  @Texts(TAGS)
  tags?: string[];

  @Members(LIMITS)
  limits?: object;

  @Members(OPTIONS)
  options?: object;
}

/** Body of `POST /admin/sites`. How its cluster and the network are reached is said beside the service only. */
export class AddSiteRequest extends SiteRequest {
  @ApiProperty({
    description: '1 to 128 characters without blank, slash and comma',
    minLength: 1,
    maxLength: 128,
    example: 'BATCH.example',
  })
  @IsString()
  name!: string;

  /** What runs its jobs */
  @IsIn(SITE_BACKENDS)
  backend!: SiteBackend;

  @Texts(SETUPS)
  setups?: string[];

  @Texts(VOS)
  vos?: string[];

  @Count(SLOTS)
  slots?: number;

  @Count(PROCESSORS)
  processors?: number;

  @Count(RAM)
  ramMB?: number;

  @Count(GPUS)
  gpus?: number;

  @Count(TIME)
  maxWallTime?: number;
}

/** Body of `PATCH /admin/sites/<site>`: what is left out stays, lists and objects are replaced as a whole, null takes away. */
export class ChangeSiteRequest extends SiteRequest {
  /** What runs its jobs */
  @IsOptional()
  @IsIn(SITE_BACKENDS)
  backend?: SiteBackend;

  @Texts(SETUPS, REMOVABLE)
  setups?: string[] | null;

  @Texts(VOS, REMOVABLE)
  vos?: string[] | null;

  @Count(SLOTS, REMOVABLE)
  slots?: number | null;

  @Count(PROCESSORS, REMOVABLE)
  processors?: number | null;

  @Count(RAM, REMOVABLE)
  ramMB?: number | null;

  @Count(GPUS, REMOVABLE)
  gpus?: number | null;

  @Count(TIME, REMOVABLE)
  maxWallTime?: number | null;
}

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
