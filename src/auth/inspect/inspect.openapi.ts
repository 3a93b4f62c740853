/** Named shapes of the authorization server that no class can describe. A union with a list has no type: generators make no code of it. */
export const AUTH_SCHEMAS = {
  RevokeTokenResponse: { description: 'Nothing', type: 'object' },
  Audience: {
    description: 'The service that a token is for, or a list of several (RFC 7519 §4.1.3)',
    example: 'https://localhost:8443',
  },
};
