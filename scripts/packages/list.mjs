/**
 * What is packed (docs/design/clients.md). `entry` is a module of dist/src; what `external` names is a dependency of the package, the
 * packages of `inside` go into it, with their licences.
 */
export const PACKAGES = [
  {
    name: 'gridgate-client',
    description: 'Typed client of Gridgate, the HTTPS and JSON interface to a computing grid',
    keywords: ['grid', 'computing', 'jobs', 'dirac', 'client'],
    entry: 'client/index',
    platform: 'neutral',
    external: [],
    inside: [],
  },
  {
    name: 'gridgate-oauth2',
    description: 'OAuth2 client sessions and identity providers, with WLCG and DIRAC conventions',
    keywords: ['oauth2', 'openid', 'oidc', 'session', 'dirac', 'wlcg'],
    entry: 'grid',
    platform: 'node',
    external: ['undici'],
    inside: ['jose', 'tldts', 'tldts-core', 'tough-cookie'],
  },
];

/** Declarations of packages that are inside another, and where they stand. */
export const DECLARATIONS = {
  jose: 'node_modules/jose/dist/types/types.d.ts',
  'tough-cookie': 'node_modules/tough-cookie/dist/index.d.ts',
};
