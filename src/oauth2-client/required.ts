import { requireArgument } from '#src/http-client/index.js';
import { ConfigurationError } from './oauth-error.js';

/** Throws a ConfigurationError that names the argument unless it fits. */
export function requireFitting(
  operation: string,
  name: string,
  value: unknown,
  fits: boolean,
): void {
  const fail = (message: string): Error => new ConfigurationError(message);
  requireArgument(value, { operation, name, fits, fail });
}
