import { eventually, startGrid, type Answer, type Grid, type GridClient } from './testbed.js';
import { registerMovers } from './grid-tokens.js';

/** Of a token without the scope `admin`: status, code and detail. */
export const NO_SCOPE = [403, 'auth.insufficient-scope', 'This needs the scope admin'];

/** Status, code and detail of a refusal. */
export const told = ({ status, body }: Answer): unknown[] => [status, body.code, body.detail];

/** A server where adam administers with the group grid_adm, and with `root`, which may submit jobs as well. */
export async function startAdministered(): Promise<{ grid: Grid; adam: GridClient }> {
  const grid = await startGrid({ env: { GRID_LOG_LEVEL: 'info' } });
  await registerMovers(grid);
  await grid.sql(
    `insert into registry_group (name, position, vo, properties, idp_scopes)
      values ('root', 90, 'vo', '{NormalUser,ServiceAdministrator}', '{}')`,
  );
  await grid.sql(
    `insert into registry_member (group_name, user_name, position) values ('root', 'adam', 1)`,
  );
  await adminToken(grid, 'root');
  return { grid, adam: grid.bearer(await adminToken(grid)) };
}

/** A token for administration by certificate, and other scopes beside it. */
export async function adminToken(
  grid: Grid,
  group = 'grid_adm',
  more = '',
  name: 'adam' | 'mona' = 'adam',
): Promise<string> {
  return eventually(
    () => grid.token(name, group, 'Prod', `admin ${more}`.trim()).catch(() => undefined),
    'the token',
  );
}
