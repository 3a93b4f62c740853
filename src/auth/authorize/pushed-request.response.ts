import { ApiProperty } from '@nestjs/swagger';

/** Answer to a pushed authorization request (RFC 9126 §2.2). */
export class PushedRequestResponse {
  @ApiProperty({ description: 'For `/oauth2/auth`, beside `client_id`; good for one answer' })
  request_uri!: string;

  @ApiProperty({ description: 'Seconds within which a browser must come with it', example: 90 })
  expires_in!: number;
}
