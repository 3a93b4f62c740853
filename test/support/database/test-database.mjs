/**
 * The PostgreSQL of a test run, by GRID_TEST_DATABASE:
 *   (unset)  the embedded one: SCRAM on a unix socket
 *   tls      Debian's, SCRAM over TCP with TLS (verify-full) and a client certificate
 *   pooler   the same, and before it PgBouncer in transaction mode with TLS on both its sides; what needs a session goes past it
 * In the URLs `DATABASE` stands for the name of a database.
 */
import { startDebianPostgres } from './debian-postgres.mjs';
import { startPgBouncer } from './pgbouncer.mjs';

const LOGIN = { user: 'gridgate', password: "pass/w@rd: 'ä#%" };

export async function startTestDatabase({ home, kind = process.env.GRID_TEST_DATABASE }) {
  switch (kind || 'embedded') {
    case 'embedded': {
      const { startEmbeddedPostgres } = await import('#src/embedded-postgres/index.js');
      const postgres = await startEmbeddedPostgres({ home });
      return { urlOf: (name) => postgres.urlOf(name), stop: () => postgres.stop() };
    }
    case 'tls': {
      const postgres = await startDebianPostgres({ ...LOGIN, tls: true });
      return { urlOf: postgres.url, stop: postgres.stop };
    }
    case 'pooler': {
      const postgres = await startDebianPostgres({ ...LOGIN, tls: true });
      const pgbouncer = await startPgBouncer(postgres);
      const stop = () => pgbouncer.stop().then(postgres.stop);
      return { urlOf: postgres.url, pooler: pgbouncer.url('DATABASE'), stop };
    }
    default:
      throw new Error(`GRID_TEST_DATABASE=${kind} is none of tls, pooler`);
  }
}
