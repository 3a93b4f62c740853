import type { Application, RegistrySnapshot } from '#src/registry/index.js';

/** client_id of the Swagger UI page of the service itself. */
export const SWAGGER_CLIENT = 'swagger-ui';

/** client_id of the `gridgate login` command. */
export const COMMAND_CLIENT = 'gridgate-cli';

/** True for the applications that come with the service. */
export function isBuiltIn(id: string): boolean {
  return id === SWAGGER_CLIENT || id === COMMAND_CLIENT;
}

/**
 * The application with this client_id: one of the registry, or one that comes with the service. Both of the latter
 * are public; the command has no redirect URI and uses the device flow.
 */
export function applicationOf(
  registry: RegistrySnapshot,
  id: string,
  publicUrl: string,
): Application | undefined {
  const known = registry.application(id);
  if (known || !isBuiltIn(id)) return known;
  const isSwagger = id === SWAGGER_CLIENT;
  return {
    id,
    name: isSwagger ? 'Gridgate API page (Swagger UI)' : 'gridgate command',
    redirectUris: isSwagger ? [`${publicUrl}/docs/oauth2-redirect.markup`] : [],
    confidential: false,
    origin: 'command',
  };
}
