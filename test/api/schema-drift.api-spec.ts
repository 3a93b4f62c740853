import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import { entities } from '../../src/app.module.js';
import { createDetachedApplication } from '../../src/app/describe-api.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/**
 * What TypeORM would change because its entities cannot say it: check constraints, and columns and indexes of kinds that it
 * does not know. Indexes that it cannot describe (partial, descending, covering, on expressions) are named at the entity
 * with `@Index('name', { synchronize: false })`; triggers, comments and storage settings it does not look at.
 */
const BEYOND_TYPEORM = [
  'ALTER TABLE "signing_key" DROP CONSTRAINT "signing_key_algorithm_check"',
  'ALTER TABLE "job_label_counts" DROP CONSTRAINT "job_label_counts_kind_check"',
  // These tables have no key.
  'ALTER TABLE "job_totals" ADD CONSTRAINT "job_totals_pkey" PRIMARY KEY ("setup", "owner")',
  'ALTER TABLE "job_label_counts" ADD CONSTRAINT "job_label_counts_pkey" PRIMARY KEY ("setup", "kind", "label")',
  'ALTER TABLE "job_block_counts" ADD CONSTRAINT "job_block_counts_pkey" PRIMARY KEY ("setup", "block")',
  // TypeORM loses the cast when it reads the default.
  'ALTER TABLE "registry_user" ALTER COLUMN "sub" SET DEFAULT (gen_random_uuid())::text',
  // A generated column: as an entity's it would make TypeORM keep a table of its own about its expression.
  'ALTER TABLE "jobs" DROP COLUMN "shape"',
  'DELETE FROM "typeorm_metadata" WHERE "type" = $1 AND "name" = $2 AND "database" = $3 AND "schema" = $4 AND "table" = $5',
];

/** What TypeORM asks about the expressions of generated columns; here it is empty. */
const TYPEORM_METADATA = `create table typeorm_metadata (
  type text, database text, schema text, "table" text, name text, value text)`;

/** The same of tables without a primary key, of which TypeORM makes one with all that hangs on its column. */
const WITHOUT_KEY = [
  'ALTER TABLE "catalogue_delta" ADD CONSTRAINT "catalogue_delta_pkey" PRIMARY KEY ("directory_id")',
  'ALTER TABLE "catalogue_value" ADD CONSTRAINT "catalogue_value_pkey" PRIMARY KEY ("field_id")',
  'ALTER TABLE "catalogue_value" DROP CONSTRAINT "catalogue_value_field_id_fkey"',
  'ALTER TABLE "catalogue_value" ADD CONSTRAINT "catalogue_value_field_id_fkey" FOREIGN KEY ("field_id") REFERENCES "catalogue_field"("id") ON DELETE NO ACTION ON UPDATE NO ACTION',
  'DROP INDEX "public"."catalogue_value_int"',
  'DROP INDEX "public"."catalogue_value_float"',
  'DROP INDEX "public"."catalogue_value_text"',
  'ALTER TABLE "registry_certificate" ADD CONSTRAINT "registry_certificate_pkey" PRIMARY KEY ("dn")',
];

describe('the schema of the entities', () => {
  let scratch: ScratchDatabase;

  beforeAll(async () => {
    scratch = await scratchDatabase();
  });
  afterAll(() => scratch?.remove());

  it('is the one that the migrations make', async () => {
    await scratch.dataSource.query(TYPEORM_METADATA);
    const { upQueries } = await scratch.dataSource.driver.createSchemaBuilder().log();
    await scratch.dataSource.query('drop table typeorm_metadata');
    const changes = upQueries.map(({ query }) => query).sort();
    const expected = [...BEYOND_TYPEORM, ...WITHOUT_KEY];
    expect(changes.filter((change) => !expected.includes(change))).toEqual([]);
    expect(expected.filter((change) => !changes.includes(change))).toEqual([]);
  });

  it('has every table', async () => {
    const rows = await scratch.dataSource.query<{ name: string }[]>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'migrations'
         order by tablename`,
    );
    const known = new Set(scratch.dataSource.entityMetadatas.map(({ tableName }) => tableName));
    const missing = rows.map(({ name }) => name).filter((name) => !known.has(name));
    expect(missing).toEqual([]);
  });

  it('stands in modules: each entity has a repository that can be injected', async () => {
    const app = await createDetachedApplication();
    const missing = entities.filter((entity) => {
      try {
        return app.get(getRepositoryToken(entity), { strict: false }) === undefined;
      } catch {
        return true;
      }
    });
    expect(entities.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });
});
