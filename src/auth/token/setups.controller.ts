import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags, ApiUnauthorizedResponse } from '@nestjs/swagger';
import { RegistryService, type User } from '#src/registry/index.js';
import { Access, CertificateUser } from '../access/access.decorator.js';
import { SetupsResponse } from './setups.response.js';

/** Setups that a certificate may get tokens for. */
@ApiTags('authorization')
@Controller('oauth2')
export class SetupsController {
  constructor(private readonly registry: RegistryService) {}

  @Get('setups')
  @Access('certificate')
  @ApiOperation({ summary: 'Setups that the user of the client certificate may use' })
  @ApiOkResponse({ type: SetupsResponse })
  @ApiUnauthorizedResponse({ description: '`invalid_client`: no known certificate' })
  async listSetups(@CertificateUser() user: User): Promise<SetupsResponse> {
    const registry = await this.registry.current();
    return { setups: registry.setupsOf(user.name).map(({ name }) => name) };
  }
}
