import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseConnection } from '#src/config/index.js';
import { directClient } from '#src/database/index.js';
import { runAs } from './postgres-account.js';
import { EmbeddedPostgresError } from './postgres-error.js';
import type { PostgresLayout } from './postgres-layout.js';

const FILE = 'password';
/** A line of pg_hba.conf for the unix socket that asks for no password; initdb and earlier versions wrote such. */
const TRUST = /^local\s.*\strust\s*$/m;

/** The superuser's password, kept in `$GRID_HOME/postgres/password` (0600); undefined: there is none yet. */
export async function readPassword(postgresHome: string): Promise<string | undefined> {
  try {
    return (await readFile(join(postgresHome, FILE), 'utf8')).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The password of a database that is about to start (SCRAM-SHA-256: whoever reaches the socket is nobody yet). A new
 * data directory, one of an earlier version and one whose password file was lost take connections without a password
 * until `close`, before the service runs anything.
 */
export class PostgresAccess {
  private constructor(
    private readonly layout: PostgresLayout,
    readonly password: string,
    private readonly isSet: boolean,
  ) {}

  static async prepare(layout: PostgresLayout, postgresHome: string): Promise<PostgresAccess> {
    const known = await readPassword(postgresHome);
    const rules = await readFile(join(layout.data, 'pg_hba.conf'), 'utf8');
    if (known !== undefined) return new PostgresAccess(layout, known, !TRUST.test(rules));
    const password = await writePassword(postgresHome);
    await changeRules(layout, { from: 'scram-sha-256', to: 'trust' });
    return new PostgresAccess(layout, password, false);
  }

  /** Gives the database the password and demands it from now on. */
  async close(connection: DatabaseConnection): Promise<void> {
    if (this.isSet) return;
    const client = directClient(connection, 'gridgate launcher');
    await client.connect();
    try {
      await client.query(`alter role ${connection.user} password '${this.password}'`);
      await changeRules(this.layout, { from: 'trust', to: 'scram-sha-256' });
      await client.query('select pg_reload_conf()');
    } finally {
      await client.end();
    }
  }
}

async function writePassword(postgresHome: string): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const path = join(postgresHome, FILE);
  const draft = await open(`${path}.draft`, 'w', 0o600);
  try {
    await draft.writeFile(`${password}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${path}.draft`, path);
  return password;
}

/** As the account that owns the directory: root writes nothing where another account could have put a link. */
async function changeRules(
  layout: PostgresLayout,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const script = `umask 077 && cd -- "$1" &&
    sed -E "s/^(local[[:space:]].*[[:space:]])${from}[[:space:]]*\\$/\\1${to}/" pg_hba.conf >pg_hba.conf.draft &&
    mv -f pg_hba.conf.draft pg_hba.conf`;
  const result = await runAs(layout.account, '/bin/sh', ['-c', script, 'sh', layout.data]);
  if (result.code !== 0) {
    throw new EmbeddedPostgresError(
      `${join(layout.data, 'pg_hba.conf')} cannot be written: ${result.output}`,
    );
  }
}
