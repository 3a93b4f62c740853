import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RegistryService, type User } from '#src/registry/index.js';
import { Access, CertificateUser } from '../access/access.decorator.js';
import { GroupsResponse } from './groups.response.js';

/** Groups that a certificate may get tokens for. */
@ApiTags('authorization')
@Controller('oauth2')
export class GroupsController {
  constructor(private readonly registry: RegistryService) {}

  /**
   * Groups of the user of the client certificate.
   *
   * @remarks One of them is the `group` of a token.
   * @throws {401} `invalid_client`: no known certificate
   */
  @Get('groups')
  @Access('certificate')
  async listGroups(@CertificateUser() user: User): Promise<GroupsResponse> {
    const registry = await this.registry.current();
    return { groups: registry.groupsOf(user.name).map(({ name }) => name) };
  }
}
