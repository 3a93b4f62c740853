import type { Answer, Grid, Identity } from './testbed.js';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Type of an access token (RFC 8693 §3). */
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** A service of others. */
export const STORAGE = 'https://storage.example';

/** Registers applications: `mover` may have tokens for STORAGE, `twin` for every service. */
export async function registerMovers(grid: Grid): Promise<void> {
  await grid.sql(
    `insert into registry_application (id, position, name, redirect_uris, confidential, origin, audiences)
      values ('mover', 50, 'Mover', '{}', false, 'command', '{${STORAGE}}'),
        ('twin', 51, 'Twin', '{}', false, 'command', '{*}')`,
  );
}

/** The answer to a request by certificate. */
export async function ask(
  grid: Grid,
  name: Identity,
  form: Record<string, string> | [string, string][],
  group = 'grid_user',
): Promise<Answer> {
  const client = await grid.certificate(name);
  const own: [string, string][] = [
    ['grant_type', 'client_credentials'],
    ['group', group],
    ['setup', 'Prod'],
  ];
  const asked = Array.isArray(form) ? form : Object.entries(form);
  return client.post('/oauth2/token', { form: [...own, ...asked] });
}

/** A token of alice by certificate. */
export async function tokenOf(
  grid: Grid,
  scope: string,
  more: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await ask(grid, 'alice', { scope, ...more });
  if (status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.access_token as string;
}

/** The answer to an exchange of one of our tokens. */
export async function narrow(
  grid: Grid,
  token: string,
  form: Record<string, string>,
  client = 'mover',
): Promise<Answer> {
  const subject = { subject_token: token, subject_token_type: ACCESS_TOKEN };
  return grid.anonymous.post('/oauth2/token', {
    form: { grant_type: EXCHANGE, client_id: client, ...subject, ...form },
  });
}
