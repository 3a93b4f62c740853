import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type Queryable } from '#src/database/index.js';
import { SandboxEntity } from './sandbox.entity.js';

/** Archives by content hash; jobs refer to them, so content never decides who may read. */
@Injectable()
export class SandboxRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(SandboxEntity) private readonly sandboxes: Repository<SandboxEntity>,
  ) {}

  /** Notes that the archive is about to be (or is) stored and used; keeps it from being cleaned. */
  async touch(
    sandbox: Pick<SandboxEntity, 'hash' | 'sizeBytes' | 'files'>,
    now: Date,
    queryable: Queryable = this.database,
  ): Promise<void> {
    await queryable.execute({
      name: 'jobs-sandbox-touch',
      text: `insert into job_sandboxes (hash, size_bytes, files, used_at) values ($1, $2, $3, $4)
        on conflict (hash) do update set used_at = greatest(job_sandboxes.used_at, excluded.used_at)`,
      values: [sandbox.hash, String(sandbox.sizeBytes), JSON.stringify(sandbox.files), now],
    });
  }

  /** The archive of that hash. */
  async find(hash: string): Promise<SandboxEntity | undefined> {
    return (await this.sandboxes.findOneBy({ hash })) ?? undefined;
  }

  /**
   * Removes up to `limit` archives that no job uses and nobody has touched since `before`. The bytes go while the
   * row is locked: a submit with the same content waits, sees no row, and stores the bytes again.
   */
  async removeUnused(
    before: Date,
    limit: number,
    removeBytes: (hash: string) => Promise<void>,
  ): Promise<number> {
    return this.database.transaction(async (transaction) => {
      const rows = await transaction.query<{ hash: string }>({
        name: 'jobs-sandbox-unused',
        text: `delete from job_sandboxes where hash in (
            select s.hash from job_sandboxes s where s.used_at < $1
              and not exists (select from jobs where input_sandbox = s.hash)
              and not exists (select from jobs where output_sandbox = s.hash)
            order by s.used_at limit $2 for update skip locked)
          returning hash`,
        values: [before, limit],
      });
      for (const { hash } of rows) await removeBytes(hash);
      return rows.length;
    });
  }
}
