/**
 * Named shapes of the authorization server that no class can describe. A union with a list is `x-one-of`, which our own
 * client reads: others make no code of it.
 */
export const AUTH_SCHEMAS = {
  RevokedTokenResponse: { description: 'Nothing', type: 'object' },
  Audience: {
    description: 'The service that a token is for, or a list of several (RFC 7519 §4.1.3)',
    'x-one-of': [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    example: 'https://localhost:8443',
  },
};
