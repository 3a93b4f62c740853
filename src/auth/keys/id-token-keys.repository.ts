import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { IdTokenKeyEntity } from './id-token-key.entity.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

/** Queries of the keys of ID tokens. */
@Injectable()
export class IdTokenKeysRepository extends SigningKeysRepository {
  constructor(@InjectRepository(IdTokenKeyEntity) keys: Repository<IdTokenKeyEntity>) {
    super(keys);
  }
}
