import { Body, Controller, Delete, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { AuditedRefusal } from '../answer/refused.decorator.js';
import { AddApplicationRequest } from './application.request.js';
import {
  AddedApplicationResponse,
  ApplicationListResponse,
  ApplicationResponse,
  RemovedApplicationResponse,
} from './application.response.js';
import { AdministeredApplications } from './applications.service.js';
import { ApplicationId } from '../answer/administration.openapi.js';

/** Applications that act for users, for administrators. */
@ApiTags('administration')
@Controller('admin/applications')
export class AdministeredApplicationsController {
  constructor(private readonly applications: AdministeredApplications) {}

  /**
   * List applications, in the order of the registry.
   *
   * @remarks Never with a secret.
   */
  @Get()
  @Access('bearer', 'admin')
  async listApplications(): Promise<ApplicationListResponse> {
    return { applications: await this.applications.list() };
  }

  /**
   * An application.
   *
   * @remarks Never with its secret.
   * @throws {404} Unknown
   */
  @Get(':application')
  @Access('bearer', 'admin')
  async getApplication(@ApplicationId() id: string): Promise<ApplicationResponse> {
    return this.applications.get(id);
  }

  /**
   * Register an application; a secret is shown this one time.
   *
   * @remarks A confidential one gets a secret, unless it proves itself by a key or a certificate.
   * @throws {409} The id is taken
   */
  @Post()
  @Access('bearer', 'admin')
  @AuditedRefusal('client.added', () => ({}))
  async addApplication(
    @Body() body: AddApplicationRequest,
    @Req() request: HttpRequest,
  ): Promise<AddedApplicationResponse> {
    return this.applications.add(body, { request });
  }

  /**
   * Remove an application; its tokens are refused from now on.
   *
   * @remarks Nobody gets a token for its client_id until it is registered again.
   * @throws {404} Unknown
   */
  @Delete(':application')
  @Access('bearer', 'admin')
  @AuditedRefusal('client.removed', ({ application }) => ({ client: application }))
  async removeApplication(
    @ApplicationId() id: string,
    @Req() request: HttpRequest,
  ): Promise<RemovedApplicationResponse> {
    return this.applications.remove(id, { request });
  }
}
