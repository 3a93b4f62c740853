import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { RegistryClientEntity } from '../entities/registry-client.entity.js';
import { RegistryRepository } from './registry.repository.js';
import type { Client } from '../model/registry.types.js';

const LAST = '(select coalesce(max(position), 0) + 1 from registry_application)';

/** Writes of single applications (`gridgate client`); reading goes through the registry's snapshot. */
@Injectable()
export class ClientsRepository {
  constructor(
    @InjectRepository(RegistryClientEntity)
    private readonly applications: Repository<RegistryClientEntity>,
    private readonly registry: RegistryRepository,
  ) {}

  /** Adds the application; false when the id is taken. Throws Problem 409 where a file rules. */
  async add(application: Client): Promise<boolean> {
    await this.registry.refuseWhereFileRules();
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
    const insert = this.applications.createQueryBuilder().insert().values(row);
    const inserted = await insert.orIgnore().returning('id').execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  /** Removes the application; false when there is none. Throws Problem 409 where a file rules. */
  async remove(id: string): Promise<boolean> {
    await this.registry.refuseWhereFileRules();
    return (await this.applications.delete({ id })).affected === 1;
  }
}
