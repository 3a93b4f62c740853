import { INT64 } from '../state/job.openapi.js';

/** Named shapes of submits that no class can describe. */
export const SUBMIT_SCHEMAS = {
  OutputFile: {
    description: 'A name or pattern, a name after `LFN:` and its path, or an object that says more',
    oneOf: [{ type: 'string' }, { $ref: '#/components/schemas/OutputFileRequest' }],
    example: 'plot.png',
  },
  SubmitJobsRequest: {
    description: 'One job, or many',
    oneOf: [
      { $ref: '#/components/schemas/ManifestRequest' },
      { $ref: '#/components/schemas/ManifestsRequest' },
    ],
    example: { Executable: '/bin/echo', Arguments: 'hello', JobName: 'hello' },
  },
  SubmittedJobsResponse: {
    description: 'The ids; with `dryRun=true` what would be made',
    // The members of both, since generators tell them apart by nothing.
    type: 'object',
    properties: {
      jids: { type: 'array', items: INT64 },
      arrayId: { ...INT64, description: 'With `array=true`' },
      valid: { type: 'boolean' },
      jobs: { type: 'integer' },
      manifests: { type: 'array', items: { $ref: '#/components/schemas/ManifestRequest' } },
      warnings: { type: 'array', items: { $ref: '#/components/schemas/SubmitWarning' } },
    },
    'x-one-of': [
      { $ref: '#/components/schemas/SubmitResponse' },
      { $ref: '#/components/schemas/DryRunResponse' },
    ],
    example: { jids: [4711] },
  },
};
