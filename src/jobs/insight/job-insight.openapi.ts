/** Named shapes of insights that no class can describe. */
export const INSIGHT_SCHEMAS = {
  JobParameter: {
    description: 'What was measured or noted',
    oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }],
    example: 0,
  },
  JobParameters: {
    description: 'What was measured and noted, by name',
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/JobParameter' },
    example: { HostName: 'node1', ExitCode: 0 },
  },
};
