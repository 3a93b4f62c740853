import { SigningKeyEntity } from './keys/signing-key.entity.js';

/** TypeORM entities of the room. */
export const authEntities = [SigningKeyEntity];
