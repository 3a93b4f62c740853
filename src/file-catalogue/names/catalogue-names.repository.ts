import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { CatalogueNameEntity, type NameKind } from './catalogue-name.entity.js';

/** Owners, groups and storage elements as numbers. Rows are only ever added. */
@Injectable()
export class CatalogueNamesRepository {
  constructor(
    @InjectRepository(CatalogueNameEntity)
    private readonly names: Repository<CatalogueNameEntity>,
  ) {}

  /** All names. */
  async all(): Promise<CatalogueNameEntity[]> {
    return this.names.find();
  }

  /** Numbers of the names; new ones are added, in a transaction of its own. */
  async ensure(kind: NameKind, names: readonly string[]): Promise<CatalogueNameEntity[]> {
    const rows = [...names].sort().map((name) => ({ kind, name }));
    await this.names
      .createQueryBuilder()
      .insert()
      .values(rows)
      .orIgnore()
      .updateEntity(false)
      .execute();
    return this.names.findBy({ kind, name: In([...names]) });
  }
}
