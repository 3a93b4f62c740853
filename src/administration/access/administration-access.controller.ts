import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, CurrentPrincipal, type Principal } from '#src/auth/index.js';
import { AdministrationAccessResponse } from './access.response.js';

/** Whether it makes sense to ask for the scope of administration. */
@ApiTags('administration')
@Controller('admin/access')
export class AdministrationAccessController {
  /**
   * Whether the bearer may administer the service, or could with another scope.
   *
   * @remarks For pages that offer administration: no scope of administration is needed to ask.
   */
  @Get()
  @Access('bearer', 'jobs:read', 'admin')
  getAdministrationAccess(
    @CurrentPrincipal() { properties, scopes }: Principal,
  ): AdministrationAccessResponse {
    return { possible: properties.has('ServiceAdministrator'), granted: scopes.has('admin') };
  }
}
