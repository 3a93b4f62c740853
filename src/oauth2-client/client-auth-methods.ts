import { isDictionary } from '#src/http-client/index.js';
import {
  PLAIN_AUTH_METHODS,
  type ClientAuthChoice,
  type ClientAuthFunction,
  type ClientAuthMethod,
} from './client-auth.js';
import { ClientSecretJWT, PrivateKeyJWT } from './jwt-assertion.js';
import { ConfigurationError } from './oauth-error.js';
import { requireFitting } from './required.js';

const SECRET_JWT = new ClientSecretJWT();

/** The methods of client authentication that one session knows: its own first, then the built-in ones. */
export class ClientAuthMethods {
  readonly #registered = new Map<string, ClientAuthFunction>();
  // one per session: it keeps the parsed key of that session
  readonly #privateKeyJwt = new PrivateKeyJWT();

  /** Registers a pair [name, function] or an object with name and prepare; may replace a built-in method. */
  register(method: readonly [string, ClientAuthFunction] | ClientAuthMethod): void {
    const isObject = typeof method === 'object' && method !== null;
    requireFitting('register_client_auth_method', 'auth', method, isObject);
    const pair = 'prepare' in method ? undefined : method;
    const name = pair === undefined ? (method as ClientAuthMethod).name : pair[0];
    const prepare = pair === undefined ? (method as ClientAuthMethod).prepare : pair[1];
    if (typeof name !== 'string' || name === '' || typeof prepare !== 'function') {
      throw new ConfigurationError(
        'register_client_auth_method: "auth" needs a name and a function',
      );
    }
    this.#registered.set(
      name,
      pair === undefined
        ? (...request) => (method as ClientAuthMethod).prepare(...request)
        : prepare,
    );
  }

  /** The function of a method; throws ConfigurationError for an unknown name. */
  find(choice: ClientAuthChoice): ClientAuthFunction {
    if (typeof choice === 'function') return choice;
    const isNamed = typeof choice === 'string';
    const fits = isNamed || (isDictionary(choice) && typeof choice.prepare === 'function');
    requireFitting('client_auth', 'auth_method', choice, fits);
    if (!isNamed) return (...request) => choice.prepare(...request);
    const registered = this.#registered.get(choice);
    if (registered !== undefined) return registered;
    if (choice === 'client_secret_jwt') return SECRET_JWT.prepare;
    if (choice === 'private_key_jwt') return this.#privateKeyJwt.prepare;
    if (Object.hasOwn(PLAIN_AUTH_METHODS, choice))
      return PLAIN_AUTH_METHODS[choice] as ClientAuthFunction;
    throw new ConfigurationError(`unknown client authentication method "${choice}"`);
  }
}
