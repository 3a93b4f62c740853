import { formOf, pkcePair, PageVisitor, redirectOf } from './page-visitor.js';
import type { Answer, Grid, Identity } from './testbed.js';

/** A token answer. */
export interface TokenAnswer {
  access_token: string;
  token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  group: string;
  setup: string;
  refresh_token: string;
}

export const PORTAL = 'demo-portal';
export const CALLBACK = 'http://localhost:8900/callback';

/** Path and query of an authorization request of the demo portal. */
export function authorizePath(parameters: Record<string, string | undefined> = {}): string {
  const all = {
    response_type: 'code',
    client_id: PORTAL,
    redirect_uri: CALLBACK,
    state: 'xyz',
    ...parameters,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return `/oauth2/auth?${new URLSearchParams(given).toString()}`;
}

/** Signs in with the certificate, allows, and answers the parameters of the redirect. */
export async function allow(
  grid: Grid,
  name: Identity,
  options: {
    parameters?: Record<string, string | undefined>;
    group?: string;
    setup?: string;
  } = {},
): Promise<Record<string, string>> {
  const visitor = new PageVisitor(await grid.certificate(name));
  const page = await visitor.open(authorizePath(options.parameters));
  const answer = await visitor.send(formOf(page.body), {
    group: options.group ?? 'grid_user',
    setup: options.setup ?? 'Prod',
    decision: 'allow',
  });
  return redirectOf(answer).parameters;
}

/** Exchanges a code of the demo portal. */
export function exchange(
  grid: Grid,
  code: string | undefined,
  form: Record<string, string> = {},
): Promise<Answer<TokenAnswer>> {
  return grid.anonymous.post('/oauth2/token', {
    form: {
      grant_type: 'authorization_code',
      code: code ?? '',
      client_id: PORTAL,
      redirect_uri: CALLBACK,
      ...form,
    },
  });
}

/** The whole of Flow B with PKCE: tokens of the demo portal for a user. */
export async function portalTokens(
  grid: Grid,
  name: Identity,
  options: { group?: string; setup?: string; scope?: string } = {},
): Promise<TokenAnswer> {
  const { verifier, challenge } = pkcePair();
  const parameters = {
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: options.scope,
  };
  const { code } = await allow(grid, name, { ...options, parameters });
  const answer = await exchange(grid, code, { code_verifier: verifier });
  if (answer.status !== 200) throw new Error(`no token: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Renews with a refresh token of the demo portal. */
export function renew(
  grid: Grid,
  refreshToken: string,
  form: Record<string, string> = {},
): Promise<Answer<TokenAnswer>> {
  return grid.anonymous.post('/oauth2/token', {
    form: {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: PORTAL,
      ...form,
    },
  });
}
