import { isPlainText } from '#src/kernel/index.js';
import {
  Check,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
  Shape,
  Type,
  ValidateNested,
} from '#src/http/index.js';
import { isSiteTag } from '#src/registry/index.js';
import { WORKER_ISOLATIONS, type WorkerFacts } from './worker.entity.js';

const MILLION = 1_000_000;
const BILLION = 1_000_000_000;
const MOST_TAGS = 100;

const areTags = (tags: unknown): boolean =>
  Array.isArray(tags) && tags.length <= MOST_TAGS && tags.every((tag) => isSiteTag(String(tag)));

/** What a worker says of its machine; all may be left out. */
class WorkerFactsRequest implements Omit<WorkerFacts, 'endsAt'> {
  @IsOptional()
  @IsIn(WORKER_ISOLATIONS)
  isolation?: (typeof WORKER_ISOLATIONS)[number];

  @IsOptional()
  @Max(MILLION)
  @Min(1)
  @IsInt()
  processors?: number;

  @IsOptional()
  @Max(BILLION)
  @Min(1)
  @IsInt()
  ramMB?: number;

  @IsOptional()
  @Max(MILLION)
  @Min(0)
  @IsInt()
  gpus?: number;

  @IsOptional()
  @Max(BILLION)
  @Min(0)
  @IsInt()
  diskMB?: number;

  @IsOptional()
  @Check(areTags, { message: `has more than ${MOST_TAGS} tags, or one that no site can have` })
  @IsString({ each: true, message: 'is not a list of texts' })
  @IsArray()
  tags?: string[];

  @IsOptional()
  @IsBoolean()
  memoryCgroup?: boolean;

  /** Seconds from now until it takes its leave: clocks of machines may be wrong. */
  @IsOptional()
  @Max(BILLION)
  @Min(0)
  @IsInt()
  lifeSeconds?: number;

  /** It ends a job that has run for so long. */
  @IsOptional()
  @Max(BILLION)
  @Min(1)
  @IsInt()
  wallSeconds?: number;
}

/** Body of `PUT /workers/<id>`: what a worker says of itself. */
@Shape({ limitBytes: 16_384 })
export class WorkerWordsRequest {
  @Max(MILLION)
  @Min(0)
  @IsInt()
  protocol!: number;

  @Check(isPlainText, { message: 'has control characters or invisible ones' })
  @MaxLength(128)
  @MinLength(1)
  @IsString()
  name!: string;

  @Check(isPlainText, { message: 'has control characters or invisible ones' })
  @MaxLength(64)
  @MinLength(1)
  @IsString()
  version!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => WorkerFactsRequest)
  @IsObject()
  facts?: WorkerFactsRequest;
}

/** Body of `POST /workers`. */
@Shape({ limitBytes: 16_384 })
export class RegisterWorkerRequest extends WorkerWordsRequest {
  @MaxLength(128)
  @MinLength(1)
  @IsString()
  site!: string;

  @MaxLength(200)
  @IsString()
  secret!: string;
}
