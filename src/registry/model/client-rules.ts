import { keySetFault } from './client-keys.js';
import type { Client } from './registry.types.js';

/** One fault of an application, and the member that has it where it is one member's. */
export interface ClientFault {
  member?: keyof Client;
  problem: string;
}

/**
 * Rules of one application. A confidential one proves itself in exactly one way: by its secret, by signatures of its
 * keys, by a certificate of a trusted CA with its DN, or by a certificate that it has registered itself. `fapi2` takes no
 * secret and no plain redirect URI (FAPI 2.0 Security Profile 5.3.2.1, 5.3.2.2), and no RS256 (5.4.1). Tokens for itself need scopes and a group.
 */
export function clientFaults(client: Client): ClientFault[] {
  return [...authenticationFaults(client), ...profileFaults(client), ...ownTokenFaults(client)];
}

function authenticationFaults(client: Client): ClientFault[] {
  const { confidential, secretHash, authentication, jwks, subjectDn } = client;
  if (!confidential) return publicFaults(client);
  if (authentication === undefined) {
    const problem =
      'a confidential application needs a secretHash (gridgate client add --confidential makes one) or authentication';
    return [
      ...(secretHash === undefined ? [{ problem }] : []),
      ...unused({ jwks, subjectDn }, 'needs an authentication that uses it'),
    ];
  }
  if (authentication === 'tls_client_auth') {
    return [
      ...(subjectDn === undefined ? [{ problem: 'tls_client_auth needs a subjectDn' }] : []),
      ...unused({ secretHash, jwks }, 'is not used by tls_client_auth'),
    ];
  }
  const use = authentication === 'private_key_jwt' ? 'signatures' : 'certificates';
  const fault = jwks && keySetFault(jwks, use);
  return [
    ...(jwks === undefined ? [{ problem: `${authentication} needs jwks` }] : []),
    ...(fault === undefined ? [] : [{ member: 'jwks' as const, problem: fault }]),
    ...unused({ secretHash, subjectDn }, `is not used by ${authentication}`),
  ];
}

function publicFaults({ secretHash, authentication, jwks, subjectDn }: Client): ClientFault[] {
  const secret = { member: 'secretHash' as const };
  return [
    ...(secretHash === undefined
      ? []
      : [{ ...secret, problem: 'only a confidential application has a secret' }]),
    ...unused({ authentication, jwks, subjectDn }, 'is for confidential applications'),
  ];
}

function profileFaults({
  profile,
  authentication,
  redirectUris,
  idTokenAlg,
}: Client): ClientFault[] {
  if (profile !== 'fapi2') return [];
  const isPlain = redirectUris.some((uri) => !uri.startsWith('https://'));
  return [
    ...(authentication === undefined
      ? [{ problem: 'fapi2 needs an authentication by key or certificate' }]
      : []),
    ...(idTokenAlg === 'RS256'
      ? [{ member: 'idTokenAlg' as const, problem: 'RS256 is too weak for fapi2' }]
      : []),
    ...(isPlain
      ? [{ member: 'redirectUris' as const, problem: 'must all be https with fapi2' }]
      : []),
  ];
}

function ownTokenFaults({ confidential, scopes, group }: Client): ClientFault[] {
  if (scopes === undefined && group === undefined) return [];
  return [
    ...(confidential
      ? []
      : [{ problem: 'only a confidential application may have tokens for itself (scopes)' }]),
    ...(scopes === undefined || scopes.length === 0 || group === undefined
      ? [{ problem: 'tokens for itself need both scopes and group' }]
      : []),
  ];
}

function unused(members: Partial<Record<keyof Client, unknown>>, problem: string): ClientFault[] {
  return Object.entries(members).flatMap(([member, value]) =>
    value === undefined ? [] : [{ member: member as keyof Client, problem }],
  );
}
