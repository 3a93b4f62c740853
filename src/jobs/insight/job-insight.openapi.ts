/** Named shapes of insights that no class can describe. */
export const INSIGHT_SCHEMAS = {
  JobParameters: {
    description: 'What was measured and noted, by name',
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    example: { HostName: 'node1', ExitCode: 0 },
  },
};
