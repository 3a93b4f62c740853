import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RegistryService, type User } from '#src/registry/index.js';
import { Access, CertificateUser } from '../access/access.decorator.js';
import { SetupsResponse } from './setups.response.js';

/** Setups that a certificate may get tokens for. */
@ApiTags('authorization')
@Controller('oauth2')
export class SetupsController {
  constructor(private readonly registry: RegistryService) {}

  /**
   * Setups that the user of the client certificate may use.
   *
   * @remarks One of them is the `setup` of a token.
   * @throws {401} `invalid_client`: no known certificate
   */
  @Get('setups')
  @Access('certificate')
  async listSetups(@CertificateUser() user: User): Promise<SetupsResponse> {
    const registry = await this.registry.current();
    return { setups: registry.setupsOf(user.name).map(({ name }) => name) };
  }
}
