import type { Client, RegistrySnapshot } from '#src/registry/index.js';

/** `client_id` of tokens that were given for a certificate. */
export const CERTIFICATE_CLIENT = 'certificate';

/** client_id of the Swagger UI page of the service itself. */
const SWAGGER_CLIENT = 'swagger-ui';

/** client_id of the `gridgate login` command. */
const COMMAND_CLIENT = 'gridgate-cli';

/** client_id of the portal that the service itself serves (GRID_PORTAL). */
const PORTAL_CLIENT = 'portal';

/** Name and path of the redirect URI, below the public URL, of each application that comes with the service. */
const BUILT_IN: Record<string, { name: string; redirectPath?: string }> = {
  [SWAGGER_CLIENT]: {
    name: 'Gridgate API page (Swagger UI)',
    redirectPath: '/docs/oauth2-redirect.html',
  },
  [PORTAL_CLIENT]: { name: 'Gridgate portal', redirectPath: '/portal/' },
  [COMMAND_CLIENT]: { name: 'gridgate command' },
};

/** True for the applications that come with the service. */
export function isBuiltIn(id: string): boolean {
  return Object.hasOwn(BUILT_IN, id);
}

/**
 * The application with this client_id: one of the registry, or one that comes with the service. All of the latter
 * are public; the command has no redirect URI and uses the device flow.
 */
export function clientOf(
  registry: RegistrySnapshot,
  id: string,
  publicUrl: string,
): Client | undefined {
  const known = registry.client(id);
  const builtIn = isBuiltIn(id) ? BUILT_IN[id] : undefined;
  if (known || !builtIn) return known;
  const { name, redirectPath } = builtIn;
  const redirectUris = redirectPath === undefined ? [] : [`${publicUrl}${redirectPath}`];
  const afterSignOut = id === PORTAL_CLIENT && { postLogoutRedirectUris: redirectUris };
  return { id, name, redirectUris, ...afterSignOut, confidential: false, origin: 'command' };
}
