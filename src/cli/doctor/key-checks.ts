import type { KeysService } from '../../auth/index.js';
import type { Config } from '#src/config/index.js';
import { fault, ok, reasonOf, warning, type Finding } from './finding.js';

/** The signing keys can be opened with the key of this environment, and one of them signs. */
export async function checkKeys(config: Config, keys: KeysService): Promise<Finding> {
  const check = 'signing keys';
  try {
    const all = await keys.report();
    if (all.length === 0) {
      return warning(check, 'there is none yet', 'The first start makes them');
    }
    await keys.signingKey();
    const text = `${all.length} keys, one of them signs (${all.map(({ algorithm }) => algorithm)[0]})`;
    if (config.keyEncryptionKey === undefined) {
      const advice =
        'Set GRID_KEY_ENCRYPTION_KEY (openssl rand -base64 32), the same on all instances';
      const isFile = config.databaseUrl === undefined;
      return isFile
        ? ok(check, `${text}; encrypted with the key in GRID_HOME`)
        : warning(check, `${text}; they lie unencrypted in the database`, advice);
    }
    return ok(check, `${text}; encrypted with GRID_KEY_ENCRYPTION_KEY`);
  } catch (error) {
    const advice = 'GRID_KEY_ENCRYPTION_KEY must be the one with which the keys were stored';
    return fault(check, reasonOf(error), advice);
  }
}
