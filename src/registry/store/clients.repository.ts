import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, lockInTransaction } from '#src/database/index.js';
import { RegistryClientEntity } from '../entities/registry-client.entity.js';
import { RegistryRepository } from './registry.repository.js';
import type { Client } from '../model/registry.types.js';

const LAST = '(select coalesce(max(position), 0) + 1 from registry_application)';

/**
 * Writes of single applications (`gridgate client`); reading goes through the registry's snapshot. Each has the lock of the
 * registry: a change of the whole registry would undo, without a word, what was written between its reading and its writing.
 */
@Injectable()
export class ClientsRepository {
  constructor(
    @InjectRepository(RegistryClientEntity)
    private readonly applications: Repository<RegistryClientEntity>,
    private readonly registry: RegistryRepository,
    private readonly database: Database,
  ) {}

  /** Adds the application; false when the id is taken. Throws Problem 409 where a file rules. */
  async add(application: Client): Promise<boolean> {
    const { redirectUris, postLogoutRedirectUris = [], audiences, scopes, ...client } = application;
    const row = {
      ...client,
      redirectUris: [...redirectUris],
      postLogoutRedirectUris:
        postLogoutRedirectUris.length > 0 ? [...postLogoutRedirectUris] : null,
      audiences: audiences ? [...audiences] : null,
      scopes: scopes ? [...scopes] : null,
      position: () => LAST,
    };
    const insert = this.applications.createQueryBuilder().insert().values(row).orIgnore();
    return this.write(insert.getQueryAndParameters());
  }

  /** Removes the application; false when there is none. Throws Problem 409 where a file rules. */
  async remove(id: string): Promise<boolean> {
    if (id.includes('\0')) return false; // the database keeps no NUL
    const removal = this.applications.createQueryBuilder().delete().where({ id });
    return this.write(removal.getQueryAndParameters());
  }

  /** True when a row was changed. */
  private write([text, values]: [string, unknown[]]): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      await lockInTransaction(transaction, 'registry');
      await this.registry.refuseWhereFileRules(transaction);
      return (await transaction.execute({ text, values })) === 1;
    });
  }
}
