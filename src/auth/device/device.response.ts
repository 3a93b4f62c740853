import { ApiProperty } from '@nestjs/swagger';

/** Answer of the device authorization endpoint (RFC 8628 §3.2). */
export class DeviceResponse {
  @ApiProperty({ description: 'For the device; it asks the token endpoint with it' })
  device_code!: string;

  @ApiProperty({ description: 'For the user, who types it on the page', example: 'BCDF-GHJK' })
  user_code!: string;

  @ApiProperty({ example: 'https://localhost:8443/oauth2/device' })
  verification_uri!: string;

  @ApiProperty({ example: 'https://localhost:8443/oauth2/device?user_code=BCDF-GHJK' })
  verification_uri_complete!: string;

  @ApiProperty({ description: 'Seconds', example: 600 })
  expires_in!: number;

  @ApiProperty({ description: 'Seconds between two questions of the device', example: 5 })
  interval!: number;
}
