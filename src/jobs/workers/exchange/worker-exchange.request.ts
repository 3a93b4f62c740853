import { Problem, type Violation } from '#src/kernel/index.js';
import { checkBy, type Schema } from '#src/config/index.js';
import {
  Check,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  Shape,
  Type,
  ValidateNested,
} from '#src/http/index.js';
import type { NewOutput } from '../../run/run-service.js';
import type { ClaimRequest, OutputReadAnswer, RunKey, RunReport } from './protocol.js';

const MOST_RUNS = 10_000;
const MOST_CLAIMED = 200;
/** So long may a claim wait at most. */
export const MOST_WAIT_SECONDS = 25;
const MOST_REPORTS = 200;
/** Files that are opened at once. */
const MOST_INPUTS = 100;
const MOST_PATH = 1_024;
const MOST_NUMBER = 1e15;
/** Characters of an archive of 64 KiB in base64. */
const MOST_ARCHIVE = 4 * Math.ceil((64 * 1024) / 3);
const MOST_NAMES = 32 * 1024;
/** Characters of what is read of a file at once, in base64. */
const MOST_CONTENT = 4 * Math.ceil((256 * 1024) / 3);
const isBase64 = (content: unknown): boolean => /^[A-Za-z0-9+/]*={0,2}$/.test(String(content));
const RUN_KEY = /^[1-9]\d{0,18}\.[1-9]\d{0,8}$/;
const arePaths = (paths: unknown): boolean =>
  Array.isArray(paths) &&
  paths.length > 0 &&
  paths.length <= MOST_INPUTS &&
  paths.every((path) => typeof path === 'string' && path.length <= MOST_PATH);
const MOST_ELEMENTS = 100;
const isHex =
  (digits: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);
const areNames =
  (most: number) =>
  (names: unknown): boolean =>
    Array.isArray(names) &&
    names.length <= most &&
    names.every((name) => typeof name === 'string' && name.length <= 4_096);
const areRuns = (runs: unknown): boolean =>
  Array.isArray(runs) &&
  runs.length <= MOST_RUNS &&
  runs.every((run) => typeof run === 'string' && RUN_KEY.test(run));
const RUNS = `is no list of at most ${MOST_RUNS} runs`;

/** What the runs of a worker leave free. */
class FreeRequest {
  @Max(1_000_000)
  @Min(0)
  @IsInt()
  processors!: number;

  @Max(1_000_000_000)
  @Min(0)
  @IsInt()
  ramMB!: number;

  @IsOptional()
  @Max(1_000_000)
  @Min(0)
  @IsInt()
  gpus?: number;

  @IsOptional()
  @Max(MOST_CLAIMED)
  @Min(0)
  @IsInt()
  ahead?: number;
}

/** Body of `POST /workers/<id>/claims`. */
@Shape({ limitBytes: 512 * 1024 })
export class ClaimBody implements ClaimRequest {
  @Max(Number.MAX_SAFE_INTEGER)
  @Min(1)
  @IsInt()
  seq!: number;

  @Max(MOST_CLAIMED)
  @Min(0)
  @IsInt()
  most!: number;

  @Check(areRuns, { message: RUNS })
  holding!: RunKey[];

  @IsOptional()
  @Check(areRuns, { message: RUNS })
  stopping?: RunKey[];

  @ValidateNested()
  @Type(() => FreeRequest)
  @IsObject()
  free!: FreeRequest;

  @IsOptional()
  @IsBoolean()
  isDraining?: boolean;

  @IsOptional()
  @MaxLength(255)
  @IsString()
  fault?: string | null;

  @Max(MOST_WAIT_SECONDS)
  @Min(1)
  @IsInt()
  wait!: number;
}

/** What of a file of the output somebody asked for. */
class OutputPartRequest {
  @Max(MOST_NUMBER)
  @Min(0)
  @IsInt()
  sizeBytes!: number;

  @MaxLength(64)
  @IsString()
  file!: string;

  @Max(MOST_NUMBER)
  @Min(0)
  @IsInt()
  modifiedMs!: number;

  @Max(MOST_NUMBER)
  @Min(0)
  @IsInt()
  start!: number;

  @Check(isBase64, { message: 'is no base64' })
  @MaxLength(MOST_CONTENT)
  @IsString()
  content!: string;
}

/** Body of `POST /workers/<id>/reads`. */
@Shape({ limitBytes: 512 * 1024 })
export class OutputReadBody implements OutputReadAnswer {
  @Check((id) => typeof id === 'string' && /^[1-9]\d{0,17}$/.test(id), { message: 'is no id' })
  id!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => OutputPartRequest)
  @IsObject()
  part?: OutputPartRequest;
}

/** Body of `POST /workers/<id>/runs/<run>/inputs`. */
@Shape({ limitBytes: 512 * 1024 })
export class InputsBody {
  @Check(arePaths, { message: `is no list of 1 to ${MOST_INPUTS} paths` })
  paths!: string[];
}

/** A file that a run stores. */
class UploadRequest implements NewOutput {
  @MaxLength(4_096)
  @IsString()
  name!: string;

  @Max(MOST_NUMBER)
  @Min(0)
  @IsInt()
  size!: number;

  @Check(isHex(8), { message: 'is no Adler32' })
  adler32!: string;

  @Check(isHex(64), { message: 'is no SHA-256' })
  sha256!: string;

  @IsOptional()
  @Check(isHex(32), { message: 'is no MD5' })
  md5?: string;

  @Check(areNames(MOST_ELEMENTS), { message: 'is no list of storage elements' })
  failed!: string[];
}

/** Body of `POST /workers/<id>/runs/<run>/uploads`. */
@Shape({ limitBytes: 1024 * 1024 })
export class UploadsBody {
  @Check((files) => Array.isArray(files) && files.length <= MOST_INPUTS, {
    message: `is no list of at most ${MOST_INPUTS} files`,
  })
  @ValidateNested({ each: true })
  @Type(() => UploadRequest)
  @IsArray()
  files!: UploadRequest[];
}

/** Body of `POST /workers/<id>/runs/<run>/arrivals`. */
@Shape({ limitBytes: 1024 * 1024 })
export class ArrivalsBody {
  @Check(areNames(MOST_INPUTS), { message: `is no list of at most ${MOST_INPUTS} names` })
  names!: string[];
}

const text = (maxLength = 255): Schema => ({ type: 'string', maxLength });
const number = { type: 'number', minimum: 0, maximum: MOST_NUMBER };
const whole = { type: 'integer', minimum: 0, maximum: MOST_NUMBER };
const run = { type: 'string', pattern: RUN_KEY.source };

const record = (properties: Record<string, Schema>, required: readonly string[]): Schema => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});
const report = (
  kind: RunReport['kind'],
  members: Record<string, Schema>,
  required: readonly string[] = [],
): [kind: string, schema: Schema] => [
  kind,
  record({ run, kind: { const: kind }, ...members }, ['run', 'kind', ...required]),
];

const REPORTS = [
  report('starting', {}),
  report('ended', {
    failure: record({ minor: text(), app: text() }, ['minor']),
    ...{ wallSeconds: number, cpuSeconds: number, maxRssBytes: number, memoryMb: number },
    ...{ diskMB: whole, exitCode: { type: 'integer', minimum: -1, maximum: 255 } },
    ...{ host: text(), isolation: text(20), outputFault: text() },
    ...{ storing: { enum: ['begins', 'is over'] }, storingFault: text() },
    ...{ missing: text(MOST_NAMES), leftOut: text(MOST_NAMES), notRequested: text(MOST_NAMES) },
    output: {
      type: 'object',
      oneOf: [
        record(
          {
            archive: { type: 'string', maxLength: MOST_ARCHIVE, pattern: '^[A-Za-z0-9+/]*={0,2}$' },
          },
          ['archive'],
        ),
        record({ put: { const: true } }, ['put']),
      ],
    },
  }),
  report('returned', { reason: text(), isOfMachine: { type: 'boolean' } }),
  report('refused', { minor: text(), app: text() }, ['minor', 'app']),
  report('lost', { app: text() }, ['app']),
];

const checkReport = new Map(
  REPORTS.map(([kind, schema]) => [
    kind,
    checkBy(schema, {
      kinds: {},
      words: (words) => `must be one of ${words}`,
      unknown: (known) => `is not known; known are ${known}`,
    }),
  ]),
);

/** Body of `POST /workers/<id>/reports`. */
@Shape({ limitBytes: 512 * 1024 })
export class ReportsBody {
  @IsArray()
  reports!: unknown[];
}

/** The reports of a body. Throws Problem 400 for more than 200, and for one that is none. */
export function reportsOf({ reports }: ReportsBody): RunReport[] {
  if (reports.length > MOST_REPORTS) {
    throw Problem.invalidField('reports', `has more than ${MOST_REPORTS}`);
  }
  const faults = reports.flatMap((one, index): Violation[] => {
    const kind = String((one as { kind?: unknown } | null)?.kind);
    const check = checkReport.get(kind);
    if (!check) return [{ field: `reports.${index}.kind`, problem: 'is no kind of report' }];
    return check(one).map(({ path, problem }) => ({
      ...{ field: ['reports', index, ...path].join('.'), problem },
    }));
  });
  if (faults.length > 0) throw Problem.invalid(faults.slice(0, 100));
  return reports as RunReport[];
}
