import { Param } from '@nestjs/common';
import { pathParameter } from '#src/http/index.js';

/** A 64-bit integer: a JSON number with all its digits. */
export const INT64 = { type: 'integer', format: 'int64' } as const;
const ID = { ...INT64, minimum: 1, example: 1 };

/** Handler parameter: the id of a job. */
export const JobId = pathParameter('jid', { description: 'Id of the job', schema: ID });

/** Handler parameter: the id of an array of jobs. */
export const ArrayId = pathParameter('arrayId', { description: 'Id of the array', schema: ID });

/** A file of a job in a path: directories of its name are parts of the path. */
export interface JobFile {
  jid: string;
  name: string;
}

function jobFile(example: string): () => ParameterDecorator {
  const schema = { type: 'string', example };
  const name = pathParameter('name', { description: 'Its name', schema })();
  const transform = (path: { jid: string; name: string | string[] }): JobFile => ({
    ...path,
    name: [path.name].flat().join('/'),
  });
  return () => (target, method, index) => {
    JobId()(target, method, index);
    name(target, method, index);
    Param({ transform })(target, method, index); // the last one gives the handler its value
  };
}

/** Handler parameter: a file that a job was submitted with, as `JobFile`. */
export const InputFile = jobFile('input.txt');

/** Handler parameter: a file that a job has written, as `JobFile`. */
export const OutputFile = jobFile('std.out');

/** A time of a record, in the OpenAPI document. */
export const TIME = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-02T03:04:05.678Z',
} as const;
