import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database } from '#src/database/index.js';
import { IdTokenKeyEntity } from './id-token-key.entity.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

/** Queries of the keys of ID tokens. */
@Injectable()
export class IdTokenKeysRepository extends SigningKeysRepository {
  constructor(
    database: Database,
    @InjectRepository(IdTokenKeyEntity) keys: Repository<IdTokenKeyEntity>,
  ) {
    super(database, keys);
  }
}
