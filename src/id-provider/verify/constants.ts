import { EXTRA_AUTHORIZE_PARAMS, SESSION_REQUEST_PARAMS } from '#src/oauth2-client/index.js';

/** Metadata of a provider before any is fetched: none (interface "Client component constants"). */
export const DEFAULT_METADATA: Readonly<Record<string, unknown>> = Object.freeze({});
/** Seconds after which the provider's keys are fetched again. */
export const JWKS_REFRESH_RATE = 86400;
/** Seconds after which the provider's metadata are fetched again. */
export const METADATA_REFRESH_RATE = 86400;

export { EXTRA_AUTHORIZE_PARAMS, SESSION_REQUEST_PARAMS };
