import { Injectable } from '@nestjs/common';
import { Database } from '#src/platform/index.js';
import type { Application } from '../model/registry.types.js';

/** Writes of single applications (`gridgate client`); reading goes through the registry's snapshot. */
@Injectable()
export class ApplicationsRepository {
  constructor(private readonly database: Database) {}

  /** Adds the application; false when the id is taken. */
  async add(application: Application): Promise<boolean> {
    const { id, name, redirectUris, confidential, secretHash, origin } = application;
    const rows = await this.database.execute({
      text: `insert into registry_application
          (id, position, name, redirect_uris, confidential, secret_hash, origin)
        values ($1, (select coalesce(max(position), 0) + 1 from registry_application),
          $2, $3, $4, $5, $6)
        on conflict (id) do nothing`,
      values: [id, name, redirectUris, confidential, secretHash ?? null, origin],
    });
    return rows === 1;
  }

  /** Removes the application; false when there is none. */
  async remove(id: string): Promise<boolean> {
    const rows = await this.database.execute({
      text: 'delete from registry_application where id = $1',
      values: [id],
    });
    return rows === 1;
  }
}
