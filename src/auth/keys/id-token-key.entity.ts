import { Entity, Index } from 'typeorm';
import { StoredKey } from './stored-key.js';

/** An RSA key of ID tokens; apart from the others, which instances of older versions take for keys of access tokens. */
@Entity('id_token_key')
@Index('id_token_key_next', { synchronize: false })
export class IdTokenKeyEntity extends StoredKey {}
