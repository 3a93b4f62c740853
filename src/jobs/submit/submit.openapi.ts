/** Named shapes of submits that no class can describe. */
export const SUBMIT_SCHEMAS = {
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
    oneOf: [
      { $ref: '#/components/schemas/SubmitResponse' },
      { $ref: '#/components/schemas/DryRunResponse' },
    ],
    example: { jids: [4711] },
  },
};
