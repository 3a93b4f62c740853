import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { RegistryApplicationEntity } from '../entities/registry-application.entity.js';
import type { Application } from '../model/registry.types.js';

const LAST = '(select coalesce(max(position), 0) + 1 from registry_application)';

/** Writes of single applications (`gridgate client`); reading goes through the registry's snapshot. */
@Injectable()
export class ApplicationsRepository {
  constructor(
    @InjectRepository(RegistryApplicationEntity)
    private readonly applications: Repository<RegistryApplicationEntity>,
  ) {}

  /** Adds the application; false when the id is taken. */
  async add({ redirectUris, ...application }: Application): Promise<boolean> {
    const row = { ...application, redirectUris: [...redirectUris], position: () => LAST };
    const insert = this.applications.createQueryBuilder().insert().values(row);
    const inserted = await insert.orIgnore().returning('id').execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  /** Removes the application; false when there is none. */
  async remove(id: string): Promise<boolean> {
    return (await this.applications.delete({ id })).affected === 1;
  }
}
