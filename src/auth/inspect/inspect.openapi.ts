/** Named shapes of the authorization server that no class can describe. */
export const AUTH_SCHEMAS = {
  RevokeTokenResponse: { description: 'Nothing', type: 'object' },
  Audience: {
    description: 'The service that a token is for, or a list of several (RFC 7519 §4.1.3)',
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    example: 'https://localhost:8443',
  },
};
