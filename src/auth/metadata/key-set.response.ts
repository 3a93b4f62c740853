import { ApiProperty } from '@nestjs/swagger';

/** A public key (RFC 7517); further members follow from its type. */
class KeyResponse {
  @ApiProperty({ example: 'EC' })
  kty!: string;

  @ApiProperty({ description: 'Names the key in the header of a token' })
  kid!: string;

  @ApiProperty({ example: 'ES256' })
  alg!: string;

  @ApiProperty({ example: 'sig' })
  use!: string;
}

/** A JSON Web Key Set (RFC 7517 §5): the key that signs now, the next one, and those with live tokens. */
export class PublicKeySetResponse {
  @ApiProperty({
    type: () => [KeyResponse],
    description: 'Public keys; `kid`, `alg` and `use` are always present',
  })
  keys!: object[];
}
