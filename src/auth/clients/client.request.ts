import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString } from '#src/http/index.js';

/** How an application says in a form which one it is (RFC 6749 §2.3.1); it may do so in a Basic header instead. */
export class ClientForm {
  @ApiProperty({ example: 'demo-portal' })
  @IsOptional()
  @IsString()
  client_id?: string;

  @ApiProperty({ description: 'Secret of a confidential application' })
  @IsOptional()
  @IsString()
  client_secret?: string;

  /** Of `private_key_jwt`: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer` (RFC 7523) */
  @IsOptional()
  @IsString()
  client_assertion_type?: string;

  /** Of `private_key_jwt`: the signed JWT */
  @IsOptional()
  @IsString()
  client_assertion?: string;
}
