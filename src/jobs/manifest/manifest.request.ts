import { ApiExtraModels, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { JsonValue } from '#src/kernel/index.js';
import { IsArray, Shape } from '#src/http/index.js';
import { CONDITION_WORDS, MAX_CONDITIONS } from './job-conditions.js';
import { manifestKeys, type ManifestKey } from './manifest-keys.js';

/** What the token of a job may do. */
class JobTokenRequest {
  @ApiProperty({ description: 'Words separated by blanks', minLength: 1, example: 'jobs:read' })
  scope!: string;
  @ApiProperty({
    description: 'Services that it is for; those of the token of the request by default',
    type: [String],
    minItems: 1,
    required: false,
    example: ['https://storage.example.org'],
  })
  audience?: string[];
}

/** A job that another one waits for: `jid` or `label`. */
class JobConditionRequest {
  @ApiProperty({ description: 'A job', type: 'integer', minimum: 1, required: false })
  jid?: number;
  @ApiProperty({
    description: 'The `Label` of a job of the same request',
    minLength: 1,
    maxLength: 128,
    required: false,
  })
  label?: string;
  @ApiProperty({
    description: 'How it has to end: well, badly, or in any way; done by default',
    enum: [...CONDITION_WORDS],
    required: false,
  })
  on?: string;
}

/** A file that is to be stored. */
class OutputFileRequest {
  @ApiProperty({ description: 'A name in the directory of the job', example: 'plot.png' })
  name!: string;
  @ApiProperty({
    description: 'A file, or with `/` at its end a directory',
    required: false,
    example: 'plots/',
  })
  path?: string;
  @ApiProperty({
    description: 'The storage element that takes it',
    required: false,
    example: 'SE-A',
  })
  se?: string;
}

/** How OpenAPI describes a value; nothing for what is several things at once or not the submitter's to say. */
function schemaOf(key: ManifestKey): ApiPropertyOptions | undefined {
  switch (key.kind) {
    case 'text':
      return { type: 'string' };
    case 'program':
      return { type: 'string', minLength: 1 };
    case 'arguments':
      return { type: 'string' };
    case 'file':
      return { type: 'string', example: key.fallback };
    case 'texts':
      return { type: [String], ...(key.most !== undefined && { maxItems: key.most }) };
    case 'integer':
      return { type: 'integer', minimum: key.min, maximum: key.max };
    case 'flag':
      return { type: 'boolean' };
    case 'label':
      return { type: 'string', maxLength: key.most };
    case 'word':
      return { type: 'string', enum: [...key.words] };
    case 'token':
      return { type: () => JobTokenRequest };
    case 'conditions':
      return { type: () => [JobConditionRequest], maxItems: MAX_CONDITIONS };
    case 'outputs':
      return { type: 'array', items: { $ref: '#/components/schemas/OutputFile' } };
    case 'jobLabel':
      return { type: 'string', minLength: 1, maxLength: 128 };
    default:
      return undefined;
  }
}

/** The properties of the class are the manifest keys. */
function Keys(target: new () => object): void {
  for (const [name, key] of manifestKeys()) {
    const schema = key.isKept ? undefined : schemaOf(key);
    if (!schema) continue;
    const required = key.kind === 'program';
    const example = key.example === undefined ? {} : { example: key.example };
    const shown = { ...schema, description: key.meaning, required, ...example };
    ApiProperty(shown as ApiPropertyOptions)(target.prototype as object, name);
  }
}

/**
 * A job as it is asked for. Keys that are not named here are kept and echoed; only `"array": true` belongs to the request and
 * makes its jobs an array.
 */
@ApiExtraModels(OutputFileRequest)
@Keys
@Shape({ ignoresUnknown: true })
export class ManifestRequest {
  [key: string]: JsonValue;
}

/** Many jobs in one request. */
export class ManifestsRequest {
  @ApiProperty({ type: () => [ManifestRequest] })
  manifests!: ManifestRequest[];
  @ApiProperty({ description: 'Make the jobs an array', required: false, example: false })
  array?: boolean;
}

/** Jobs without files, as a form. */
@Shape({ body: 'form' })
export class ManifestFormRequest {
  @ApiProperty({
    type: 'string',
    description: 'A manifest as JSON text; may be repeated',
    example: '{"Executable":"/bin/echo","Arguments":"hello"}', // in a doc comment it would lose its quotes
  })
  @IsArray()
  manifest!: string[];
}

/**
 * Jobs with files, as a multipart form. Every other part needs a file name and is an input file, whatever its field name.
 */
@Shape({ ignoresUnknown: true })
export class ManifestUploadRequest {
  @ApiProperty({
    type: 'string',
    description: 'A manifest as JSON text, or a file that holds one; may be repeated',
    example: '{"Executable":"/bin/echo","Arguments":"hello"}', // in a doc comment it would lose its quotes
  })
  manifest!: string;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'binary' },
    description: 'Input files',
    required: false,
  })
  file?: string[];
}
