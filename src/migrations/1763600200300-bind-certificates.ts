import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A certificate of a user may count from one CA only; the same DN from different CAs may be different users. */
export class BindCertificates1763600200300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table registry_certificate add column issuer text, drop constraint registry_certificate_pkey;
      create unique index registry_certificate_identity on registry_certificate (dn, coalesce(issuer, ''));
    `);
  }

  /** Entries that name a CA go: without their CA they would count from every one. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from registry_certificate where issuer is not null;
      drop index registry_certificate_identity;
      alter table registry_certificate drop column issuer, add primary key (dn);
    `);
  }
}
