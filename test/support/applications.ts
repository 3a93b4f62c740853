import { createHash, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, SignJWT, type JWK } from 'jose';
import type { Answer, CallOptions, Grid, GridClient } from './testbed.js';

/** A key pair of an application or of one of its instances. */
export interface TestKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JWK;
  /** RFC 7638. */
  thumbprint: string;
}

export async function makeKey(): Promise<TestKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = await exportJWK(publicKey);
  return { privateKey, publicKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

/** What a row of the registry says of an application beside the usual. */
export interface TestApplication {
  id: string;
  redirectUris?: string[];
  confidential?: boolean;
  authentication?: string;
  jwks?: object;
  subjectDn?: string;
  profile?: string;
  scopes?: string[];
  group?: string;
}

/** Puts an application into the registry. */
export async function addApplication(grid: Grid, application: TestApplication): Promise<void> {
  const { id, redirectUris = ['https://app.example/cb'], authentication, jwks } = application;
  const confidential = application.confidential ?? authentication !== undefined;
  await grid.sql(
    `insert into registry_application (id, position, name, redirect_uris, confidential,
        authentication, jwks, subject_dn, profile, scopes, group_name, origin)
      values ($1, 9, $1, $2, $3, $4, $5, $6, $7, $8, $9, 'command')`,
    [
      ...[id, redirectUris, confidential, authentication ?? null],
      ...[jwks === undefined ? null : JSON.stringify(jwks), application.subjectDn ?? null],
      ...[application.profile ?? null, application.scopes ?? null, application.group ?? null],
    ],
  );
}

/** The parameters by which an application proves itself with a key (RFC 7523). */
export async function assertionOf(
  id: string,
  { privateKey }: TestKey,
  claims: Record<string, unknown> & { aud: string },
): Promise<Record<string, string>> {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: id, sub: id, jti: randomUUID(), iat: now, exp: now + 60, ...claims };
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT(all).setProtectedHeader({ alg: 'ES256' }).sign(privateKey),
  };
}

/** Calls that carry DPoP proofs of one key; it learns the nonces of the server. */
export class DpopCaller {
  nonce: string | undefined;

  constructor(
    private readonly client: GridClient,
    readonly key: TestKey,
  ) {}

  /** A proof for one request. */
  proof(method: string, path: string, token?: string, claims: object = {}): Promise<string> {
    const [place = ''] = path.split('?');
    const ath = token === undefined ? undefined : createHash('sha256').update(token);
    const all = {
      jti: randomUUID(),
      htm: method,
      htu: `${this.client.url}${place}`,
      iat: Math.floor(Date.now() / 1000),
      ...(ath && { ath: ath.digest('base64url') }),
      ...(this.nonce !== undefined && { nonce: this.nonce }),
      ...claims,
    };
    return new SignJWT(all)
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: this.key.jwk })
      .sign(this.key.privateKey);
  }

  /** One request, and a second one where the server wants another nonce. */
  async call<T = any>(
    method: string,
    path: string,
    { token, ...options }: CallOptions & { token?: string } = {},
  ): Promise<Answer<T>> {
    const send = async (): Promise<Answer<T>> => {
      const dpop = await this.proof(method, path, token);
      const headers = {
        ...options.headers,
        dpop,
        ...(token !== undefined && { authorization: `DPoP ${token}` }),
      };
      const answer = await this.client.call<T>(method, path, { ...options, headers });
      const nonce = answer.headers['dpop-nonce'];
      if (typeof nonce === 'string') this.nonce = nonce;
      return answer;
    };
    const known = this.nonce;
    const first = await send();
    const isWanted = known !== this.nonce && [400, 401].includes(first.status);
    return isWanted ? send() : first;
  }
}
