import { ApiProperty } from '@nestjs/swagger';
import type { NamedKeyReport } from '#src/auth/index.js';
import { TIME } from '../answer/administration.openapi.js';

/** A signing key, without anything of its private part. */
export class SigningKeyResponse {
  @ApiProperty({ description: 'Its id in the key set and in the head of tokens' })
  kid!: string;

  @ApiProperty({ example: 'ES256' })
  algorithm!: string;

  @ApiProperty({ enum: ['access', 'id'], description: 'Which tokens it signs' })
  tokens!: NamedKeyReport['tokens'];

  @ApiProperty({
    enum: ['next', 'scheduled', 'signing', 'retired'],
    description:
      '`next`: published, and used after the next rotation; `scheduled`: used from `activeFrom` on; `retired`: its last tokens may still live',
  })
  state!: NamedKeyReport['state'];

  @ApiProperty(TIME)
  createdAt!: string;

  @ApiProperty({ ...TIME, description: 'Since when it signs, or from when on', required: false })
  activeFrom?: string;
}

/** Signing keys, those of access tokens first, each kind oldest first. */
export class SigningKeyListResponse {
  keys!: SigningKeyResponse[];
}
