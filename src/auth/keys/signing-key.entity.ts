import { Entity, Index } from 'typeorm';
import { StoredKey } from './stored-key.js';

/** A key of access tokens. */
@Entity('signing_key')
@Index('signing_key_next', { synchronize: false })
export class SigningKeyEntity extends StoredKey {}
