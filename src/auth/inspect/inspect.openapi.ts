import type { PathParameter } from '#src/http/index.js';

/** Parts of the paths of the authorization server in the OpenAPI document. */
export const AUTH_PATH_PARAMETERS: Record<string, PathParameter> = {
  provider: { description: 'Name of an identity provider', schema: { type: 'string' } },
};

/** Named shapes of the authorization server that no class can describe. */
export const AUTH_SCHEMAS = {
  Audience: {
    description: 'The service that a token is for, or a list of several (RFC 7519 §4.1.3)',
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    example: 'https://localhost:8443',
  },
};
