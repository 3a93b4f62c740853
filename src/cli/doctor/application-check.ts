import { demandsPkce } from '../../auth/index.js';
import type { Config } from '#src/config/index.js';
import type { Client } from '../../registry/index.js';
import { ok, warning, type Finding } from './finding.js';

/** Public applications of the registry from which no PKCE is demanded: who reads a code of theirs can use it (RFC 9700 §2.1.1). */
export function checkApplications(
  { requirePkce }: Pick<Config, 'requirePkce'>,
  applications: readonly Client[],
): Finding {
  const check = 'applications';
  const open = applications
    .filter((client) => !client.confidential && !demandsPkce(client, requirePkce))
    .map(({ id }) => id);
  if (open.length === 0) return ok(check, 'PKCE is demanded of every public one');
  const names = open.join(', ');
  return warning(
    check,
    `no PKCE is demanded of the public ${names}`,
    'Set GRID_REQUIRE_PKCE=public, or register them with the profile oauth2.1',
  );
}
