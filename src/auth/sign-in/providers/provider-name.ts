import { pathParameter } from '#src/http/index.js';

/** Handler parameter: the name of an identity provider. */
export const ProviderName = pathParameter('provider', {
  description: 'Name of an identity provider',
  schema: { type: 'string' },
});
