import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { decodeJwt } from 'jose';
import { portalTokens } from '../portal.js';
import type { Grid } from '../testbed.js';

type Claims = Record<string, unknown>;

/** Signs tokens with the service's own key, so that nothing but one claim is wrong with them. */
export class TokenForge {
  private constructor(
    private readonly kid: string,
    private readonly key: KeyObject,
    private readonly claims: Claims,
  ) {}

  /** Of a server without GRID_KEY_ENCRYPTION_KEY, whose keys stand in the database as they are. */
  static async of(grid: Grid): Promise<TokenForge> {
    const [row] = await grid.sql<{ kid: string; private_key: string }>(
      'select kid, private_key from signing_key where active_from <= now() order by active_from desc limit 1',
    );
    if (!row) throw new Error('the server has no signing key');
    const der = Buffer.from(row.private_key.slice('plain.'.length), 'base64');
    const key = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' });
    const claims = decodeJwt(await grid.token('alice', 'grid_user'));
    return new TokenForge(row.kid, key, claims);
  }

  /** A token like alice's but for these claims (undefined leaves one out). */
  token(change: Claims = {}, header: Claims = {}, key: KeyObject = this.key): string {
    const head = { alg: 'ES256', typ: 'at+jwt', kid: this.kid, ...header };
    const claims = { ...this.claims, jti: `forged-${Math.random()}`, ...change };
    const input = `${part(head)}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  }

  /** Without signature (RFC 7519 §6). */
  unsigned(): string {
    return `${part({ alg: 'none', typ: 'at+jwt' })}.${part(this.claims)}.`;
  }

  /** A good token whose claims were changed afterwards. */
  altered(change: Claims): string {
    const [head, , signature] = this.token().split('.');
    return `${head}.${part({ ...this.claims, ...change })}.${signature}`;
  }
}

/** Tokens that are no good, by what is wrong with them. */
export async function badTokens(grid: Grid): Promise<Record<string, string>> {
  const forge = await TokenForge.of(grid);
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const now = Math.floor(Date.now() / 1000);
  const tokens: Record<string, string> = {
    garbage: 'nonsense',
    expired: forge.token({ iat: now - 120, exp: now - 60 }),
    revoked: await revokedToken(grid),
    'wrong audience': forge.token({ aud: 'https://elsewhere.example' }),
    'foreign issuer': forge.token({ iss: 'https://elsewhere.example' }),
    'unsigned (alg none)': forge.unsigned(),
    'foreign key': forge.token({}, {}, stranger),
    'altered claims': forge.altered({ sub: 'adam', group: 'grid_adm' }),
    'no access token (typ JWT)': forge.token({}, { typ: 'JWT' }),
    'no expiry': forge.token({ exp: undefined }),
    'refresh token': (await portalTokens(grid, 'alice')).refresh_token,
    'unknown user': forge.token({ sub: 'nobody' }),
    'group lost': forge.token({ group: 'grid_adm' }),
    'setup gone': forge.token({ setup: 'Gone' }),
    'application gone': forge.token({ client_id: 'gone' }),
  };
  return tokens;
}

/** A token like alice's with every scope but this one. */
export function withoutScope(forge: TokenForge, scope: string): string {
  const all = [
    'jobs:read',
    'jobs:submit',
    'jobs:kill',
    'catalogue:read',
    'catalogue:write',
    'webhooks',
  ];
  return forge.token({ scope: all.filter((one) => one !== scope).join(' ') });
}

async function revokedToken(grid: Grid): Promise<string> {
  const token = await grid.token('alice', 'grid_user');
  const answer = await grid.bearer(token).post('/oauth2/revoke', { form: { token } });
  if (answer.status !== 200) throw new Error(`revocation refused: ${answer.status}`);
  return token;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
