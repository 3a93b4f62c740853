import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * DPoP proofs of requests with an access token, on all instances. Not logged, since a row is written for each such request and
 * lives for minutes; without an index of the ends, since that would be written for each and read once in five minutes.
 */
export class RequestProofs1763910700001 implements MigrationInterface {
  name = 'RequestProofs1763910700001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create unlogged table request_proof (
        id text primary key,
        expires_at timestamptz not null
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table request_proof;');
  }
}
