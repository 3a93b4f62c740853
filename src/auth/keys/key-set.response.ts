import { ApiProperty } from '@nestjs/swagger';

/** A JSON Web Key Set (RFC 7517 §5): the key that signs now, the next one, and those with live tokens. */
export class KeySetResponse {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Public keys; `kid`, `alg` and `use` are always present',
  })
  keys!: object[];
}
